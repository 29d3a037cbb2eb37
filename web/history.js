// What was heard and said before, kept in this browser and nowhere else.
const KEPT = "mynah-history";
const MOST = 100;

const byId = (id) => document.getElementById(id);
const kept = () => JSON.parse(localStorage.getItem(KEPT) ?? "[]");

export function remember(name, text) {
  const all = [{ name, text, when: Date.now() }, ...kept()].slice(0, MOST);
  try {
    localStorage.setItem(KEPT, JSON.stringify(all));
  } catch {
    localStorage.setItem(KEPT, JSON.stringify(all.slice(0, MOST / 2))); // a browser keeps so much and no more
  }
  list();
}

function list() {
  const all = kept();
  byId("history").hidden = all.length === 0;
  byId("remembered").replaceChildren(
    ...all.map(({ name, text, when }) => {
      const item = document.createElement("li");
      const head = document.createElement("h3");
      head.textContent = `${name}, ${new Date(when).toLocaleString()}`;
      const words = document.createElement("p");
      words.textContent = text;
      item.append(head, words);
      return item;
    }),
  );
}

export function startHistory() {
  byId("forget").addEventListener("click", () => {
    localStorage.removeItem(KEPT);
    list();
  });
  list();
}
