"use strict";
// A click on a column's head sorts its table, a second one the other way round. What begins with
// a number is compared as one and stands before words; dashes go last.
function key(row, column) {
  const text = row.cells[column].textContent.trim();
  const number = parseFloat(text);
  if (text === "-" || text === "") return [2, 0, text];
  return Number.isNaN(number) ? [1, 0, text] : [0, number, text];
}

function compare(a, b) {
  return a[0] - b[0] || a[1] - b[1] || a[2].localeCompare(b[2]);
}

function sort(head) {
  const table = head.closest("table");
  const body = table.tBodies[0];
  const column = head.cellIndex;
  const isUp = head.getAttribute("aria-sort") !== "ascending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", isUp ? "ascending" : "descending");
  const rows = [...body.rows].map((row) => [key(row, column), row]);
  rows.sort((a, b) => {
    const order = compare(a[0], b[0]);
    const isLast = a[0][0] === 2 || b[0][0] === 2;
    return isUp || isLast ? order : -order;
  });
  for (const [, row] of rows) body.append(row);
}

for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => sort(button.closest("th")));
}
