// A list to choose from.

// Has these names to choose from; what was chosen stays so while it is among them.
export function offer(select, names) {
  const chosen = select.value;
  select.replaceChildren(...names.map((name) => new Option(name, name)));
  if (names.includes(chosen)) {
    select.value = chosen;
  }
}
