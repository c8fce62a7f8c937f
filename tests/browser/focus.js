// What has the focus, and whether that is seen: by an outline, or a frame inside of a picture.
() => {
  const element = document.activeElement;
  const style = getComputedStyle(element);
  const frame = element.querySelector?.(".node");
  const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
  return [element.id || element.textContent.trim(), outlined || Boolean(frame && getComputedStyle(frame).strokeWidth === "2px")];
}
