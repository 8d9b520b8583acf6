// What makes the page more pleasant; it works without.
"use strict";

for (const field of document.querySelectorAll("[data-submit]")) {
  field.addEventListener("change", () => field.form.requestSubmit());
}
// A box that ticks all boxes of its form, or those of one group.
for (const box of document.querySelectorAll("[data-ticks]")) {
  box.hidden = false;
  box.addEventListener("change", () => {
    const wanted = box.dataset.ticks;
    for (const other of document.querySelectorAll("input[type=checkbox][data-group]")) {
      if (wanted === "" || other.dataset.group === wanted) other.checked = box.checked;
    }
  });
}
// A slider shows its number.
for (const slider of document.querySelectorAll("input[type=range]")) {
  const shown = slider.parentElement.querySelector("output");
  if (shown) slider.addEventListener("input", () => { shown.value = slider.value; });
}
// What stands beside the button is copied, where the browser lets a page do so.
for (const button of navigator.clipboard ? document.querySelectorAll("[data-copy]") : []) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
  });
}
