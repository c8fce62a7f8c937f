// Of everything that is to have a name: [tag, role, label, text, aria-hidden, id]. A canvas inside of a picture is that picture.
() =>
  [...document.querySelectorAll("button, input, [role], canvas, figure, article, section, dialog")].map((element) => {
    const inside = element.tagName === "CANVAS" && element.closest("[role=img]");
    const shown = inside || element;
    const by = shown.getAttribute("aria-labelledby");
    const label = shown.getAttribute("aria-label") ?? (by && document.getElementById(by)?.textContent) ?? "";
    return [
      element.tagName, shown.getAttribute("role"), label, element.textContent.trim(), element.getAttribute("aria-hidden"), element.id,
    ];
  })
