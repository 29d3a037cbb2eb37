// Asks the server that the page comes from.

const KEY = "mynah-key";

// Told of a server that wants a key, or another one.
export const asks = new EventTarget();

export function useKey(key) {
  sessionStorage.setItem(KEY, key);
}

// The answer to a request; throws its error, in the server's words.
export async function ask(path, options = {}) {
  const headers = new Headers(options.headers);
  const key = sessionStorage.getItem(KEY);
  if (key) {
    headers.set("Authorization", `Bearer ${key}`);
  }
  const answer = await fetch(path, { ...options, headers });
  if (answer.status === 401) {
    asks.dispatchEvent(new Event("key"));
  }
  if (!answer.ok) {
    const told = await answer.json().catch(() => ({}));
    throw new Error(told.error?.message ?? `the server answered ${answer.status}`);
  }
  return answer;
}

// Server-sent events of an answer, each as the object that it is.
export async function* events(answer) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let kept = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) {
      return;
    }
    kept += value;
    for (let end = kept.indexOf("\n\n"); end >= 0; end = kept.indexOf("\n\n")) {
      const data = kept.slice(0, end).split("\n").filter((line) => line.startsWith("data: "));
      kept = kept.slice(end + 2);
      if (data.length > 0) {
        yield JSON.parse(data.map((line) => line.slice(6)).join("\n"));
      }
    }
  }
}
