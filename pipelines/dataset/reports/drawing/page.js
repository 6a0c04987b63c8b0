"use strict";
// Tables can be sorted by their headers; boxes that scroll can be reached by keyboard. The page is whole without it.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = Array.from(table.tHead.rows[0].cells);
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.textContent = "";
    head.append(button);
    button.addEventListener("click", () => {
      const descending = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      const value = (row) => {
        const cell = row.cells[column];
        return cell.dataset.sort === undefined ? cell.textContent : Number(cell.dataset.sort);
      };
      const order = (one, other) => {
        const a = value(one), b = value(other);
        if (typeof a === "number" && typeof b === "number") return a - b;
        return String(a).localeCompare(String(b));
      };
      const rows = Array.from(body.rows).sort(order);
      body.append(...(descending ? rows.reverse() : rows));
    });
  });
}
for (const box of document.querySelectorAll(".table")) {
  if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
}
