// The report of the explorer follows the button of this page that changes the colour scheme. Where pages are files, and not served,
// a frame is closed to its page: then the report follows the system, and has a button of its own.
(() => {
  const frame = document.querySelector("iframe.explorer");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => {
    const chosen = document.body.dataset.theme;
    const wanted = chosen === "light" || chosen === "dark" ? chosen : dark.matches ? "dark" : "light";
    const report = frame.contentDocument;
    const shown = report?.documentElement.dataset.theme;
    if (shown && shown !== wanted) report.getElementById("theme").click();
  };
  frame.addEventListener("load", follow);
  new MutationObserver(follow).observe(document.body, { attributeFilter: ["data-theme"] });
})();
