"""Written by `tools/unicode_tables.py`: the classes of all code points, compressed."""

UNICODE_VERSION = "18.0.0"
RUNS = (
    "c-rk(OKfCE6|H;g`>Ol(&pq9CkGtLWcsw85V`u&&MnfUQM593=8-@%*d_=^8L{TIV8+I&+gn$LGn(QK!H48S`jSys=RTjV^B72k-OT@jmUfXS_C-b$KL|x_g"
    "`n{@pb${ocTUM>z)~;%$kZf{Ewdm0&MXxReFQe8aXP@)#<?sI_+xax<S_a5v%DZG0drwh!a(!k`k18(9c-}i%?Fm8zC7r6SykcZ&y1Wi_k;62-dz$lsy{BkQ"
    "^GyYrrEhseMtPENO2+9~Po@&@#S?p7rs=L^SStZC1xFoR#`BZTZ-F;cGq<Yt5hZ3X*jwTQOa649ERt>X%+F;5CHABTOAsCM>dH=5D`epZw3~cK8dbhc;;w1E"
    "*oD>NAl~H#Rm5aCWhoLjULN*hl6%k@<BFo~W*L6K2`MlLXtCmaX|d|WGfKiP-p#781Ckg^{vh$;kg5y?`7Q@erEHs$rTm&yMu^JRu-?@Y)_?$!F=|sbFz?N&"
    "?EL2<zm6<x_kLB5s=Q979oLBbLpMcEOiEs<ZX_-pEy^{?fgAzmzf{rNR2S0ZkGZs@U|nErCHj!NN;CQW=)1_J=u7ouyE0?xSupllW9conH}F_sJj<-F5?F{w"
    "@R*GYGT=Ft_?Nu(n8k(@(|`5~AB1Dmvn_Im-qW)P3s(s#pc5+39Gism5)-M=KwvuH>{Y_hUh>^fXd{!RKS)dLUVX4G2tN^5xh!XThC{9W6z5Lrx$vRVInY%+"
    "IS2Mv?oUmR35!>#P8F#!?=ba*Omn;knMmf-YMa5PDk`<gsXYWfpv&>hS9S#PiR>xQVNwArx(uwN)TT_UDJu}<FUck>Gi1v3mND$A30+yP#sA`UDTES;DkMRC"
    "E{|evkO)et5H1%kW+KjYKGV5WmVJ-s;`X5OtCgRslerXDowrs}xV0Cji%<?{u9YcQ7pW66A!Q|3V$p+w5Dx9@vsu-<PZiPxI`ZQy7i#6F*9jD->v^@?1aDPX"
    "Lggcop7F|x2Ju~z&{V-ql^62YVXxlpg+`}6gC>XysRER)jtWv5eNg@px)l1bPj6MRRn;MGa-5qy<Pyygo)ikT*DDb3k4;S;syj*Q!HgS$GVRM0T|PxdGw4b("
    "dg^p1*TkV(JejgT*)M5wywHbEk`xds2^l#;-h6)~H$KG42YN{A342I0Pnrb)LI;}B58S{w7(hV-1_3ni)d#-_0iLYkL*5_dbB*$((eRz#a55)<tR=FxhG!5S"
    "Dv=k<S5MeH$`)qw{xuwQOub<}J-6T7mrEihUPNd^aRN|3NUW_iyRiEx3Os{YARKku0CZ;%HEfGG@`pQa47Ov9e6o2gl5c(}wm4+CMG9<#v>F}9yESOU)k5Np"
    "JwtfZV6h2HjD(t91n-Npi?DiG6K;J(jL^~$5V6PmF%T$7EIM!mG%Y}Mf+7vh<YfXD8ng6HVeu4B+KS>6wFt~>EUgIiMv|Mz`*?7$FDow)S=Lsf$RN7F(WWLt"
    "SCar;H<m|`zHgMl+90Xb;?L>Hc*YBIi(ZU?ydY)?d5M)Jk;K*w>v#t93;~TSAmIz5T}LkhXSJs(M+yW-_CtM_Mhy4>5l^CEZjtV^8|AwdSVc5r=%efA2pSBq"
    "Zn`vEgLTr!L3whs3(+}a*d<<@vQ9e~+~D1ClhnRNUwQfV3|*^xZ%w#H_phQZy1EtJ9gfHA*oFb>+nOqU#}o@1iw@RHc0~Q+SnR^+qN{OK++A;RjpW>nD`bA%"
    "kOFZ;s%@D8tyt?@#7hx|2>c0!3BS^`JMBPQw2QhPl^C}g!K`<+jatWbvKs6r>JT&>Gh`dZ-fn%lgte0ip2t=ky@cQ>EP<N*PKHBh$Y2OofI=`PBvRT?2!bVW"
    "(<^db(&P@bC}_??wC$6%)h1=OP`8v4>ndFFpJ6ClF!XYPB7x>!uXgPEOTC|sKEhw^?pCy)S5wlUK6($M=%<+zpn~*OLT>~51?S{+AMe09G|L0HTmNv-;<R2W"
    "99hAZ-Vy5gHW<4J-vu;ryiq`F1>z_`a~w}K)BW@teWf^uC8Yv(A5%*M@gZj5&4@1ai-R2hv<?i1$_9Ss#<nVH(|XT14j5<{-XYUipB%59aTiU%^PND+-*KA1"
    "ipv4}WetYf>@-TD9D-Q1aHdfR8xwQ&iIUDUY#5CIiyCVjkH}bd62MI$)}-LPe1cekCjMCOn-|O*_~Q*<x0b1}6s@^5yuSKcC*kEVt{bAO)(Kc3s9Jc-<a1K("
    "u9kg?*=gqzu}<fv1>h>tSo=9;$F?r6wFw5LhMjHr#ZbS{gyUvxiY__QZdf}4;#PV*d;0WCq|3TlH>bnJ8q}aEg{At{7wcDwUJQ#4&O#$`729H}!ahZ$kA5W-"
    "yCm1z9(ihDVX$$PGP8x}m_;pRmnKToR6~8?i5rJ{9AFuZ^~GiFdl(jM=y+52FW<Uyp}gQpkHGxd)8vR=zz<ePEEmca5u`18&>BVvy_&JTjxig@e79fdOHFS^"
    "TuckIUE_=|mwa@3y+LuJj{_ZipwPPwL+WsSB%Qjo4lLDaPq-oVfsBpdcIq}dGhJQjlIqH3(-OmbZEI0*v>}Wr=ddbf0f(15#zr~bjdr_Sy5qY$9*e%gwcWOc"
    "T6E>YX2})Wb(fE0lgfyHZ>tHfj>il2z<ba}<Z9+NF5E@D8Ss>s8V1K9p7ua73s5^p2M$}_@)5onURkB%iYwqG&)7KBI3o2Mx7dJ<j9<^HI5u}|#VqpAmWjkS"
    "|6ZU9Nt#mKA=^sY51Pk@CEWYbo3{2>iv16;+--qt#<%T@?~OX~{cC=O@&65~b0f}zU0=}YDUyt1cHvLkI=(+1_l;e`rLEg!#T9SL#4f3k8;gIeuYK<)<?k97"
    "hDIEGrXWbr!OQwzo7Zfq3pxYQ@b^EV8u@3}CxTzabJ#C_di_7~6kfO5g@Ar!{-EicL~(*K-ssl5^=}nRZw&?m51qk4PT0sU3`UL>wZQ=8FyVn8I9`-BgQ+%z"
    "CF*Y0jdnY)u9)+Ic-S{BG+!Qm9O052f>F+CGg$~5{_+J6Z4?;U8>{f<w)P$gk&s5vChuGLVA;eEN60X}zrqPaV6z0jkGzzvCj1Qxe`alsUdiL_FEL4deH)s8"
    "F$9ME|3}RK2e`?<1G*ZYVo79I8(9#cO=ma@?TgshGOyN~bS`Sb$ymN~Wms;R!ehhT`#ZLEssBmXTsBt;HmAb~>joResaL2Hm-<DL(jj80+uy@?=zRFmcm;lo"
    "FErnHXY{Yz_Utdy{ZCqI-sWxI=Ixm@c#O3;ch|ffMguDSh0l>Cb?32@W!|27+vM9SJOd_sZYXu$z96k4K`7{E<gux6KtB$j1}n>x%}0mVi=;_wK3}-QnZ9}Y"
    "gn}mt$&qKZe!OqYyQ-~vYN)V4yP#Iz-ZJXH^8}i=d7HO+o40wJw|Seld7HO+`@FWO@PDj?A|("
)
OLDER = {
"17.0.0": (
    "c-qa6KT1PE5Ql%inYX(yn$4f$#VROjqgWZxA`o9;E2dPi7Cb@<4-o8Z1&`nj1n~skKrFn6^G3y_($eo^W(Q_>b{7c=`ejqsW^k=mZ(1ajZd$N*wTaqAv^pY&"
    "Ure^?`}m^G&@=AKSmtIs+%xN@-W4+zoXbgQNoWnY(&IaM&9M4%cp8r7^|mvb#v@*7sr|eo&(%~*5pKvf&xaCY#Y9r59Pkt664FTrqX+I1Qgv^1!X7iTZ1Jsr"
    "3TO!EdTz*=Syo)wYn?U(_9KIr@D|o>8G2LjL*f3BzFo(q0gqVQQ~W20`~d<08;$"
),
"16.0.0": (
    "c-q~Ny-EX75QXoV`@3;BNt2i;8Y4D=V39yXEV5<FG%2joYiXq-3WB|YmFOe*0ul%j3$0>f=@VG_0($T6#$7?s+Ve3p+~Lg3vJ6aHcoMT5Mo7hEg0>Mib!^~a"
    "I%ODl$sw6y+9alwFoC-WBdjsBq2w=Ux6#34GTVM8y?TiWTC_zExF?NcyszFM;C1ngN3jDC00V(M4rovuQAfYYlZ9Oll3p2p9s|>Bikt$DAm^qV)hbn&iNn0e"
    "^~!KBxX8Ers*7_zng=)a22DzRZiui#YuH{QrAp9ncR0$3#qmv)*PZsbX4?c!5{7QkpldOtQeo;Hik932rviL?)}s$})hkYYdO8co#E3b$3R?sF@11h?z0We@"
    "tRERXo8_$ON0X71OX#`8ScQq%6sy^?7>#~;BZ-JVN@X9p^aGN;S>4$vvqABy$=N?v@Ci^8FF*"
),
}  # fmt: skip
