// Asks the server that the page comes from.

const KEY = "mynah-key";

// Told of a server that wants a key, or another one.
export const asks = new EventTarget();

export function useKey(key) {
  sessionStorage.setItem(KEY, key);
}

// What a browser says of a server that is not there, or went away ("Failed to fetch", "network error"), helps nobody.
function asGone(error) {
  return error instanceof TypeError ? new Error("the server cannot be reached: does mynah serve still run?") : error;
}

// The answer to a request; throws its error, in the server's words.
export async function ask(path, options = {}) {
  const headers = new Headers(options.headers);
  const key = sessionStorage.getItem(KEY);
  if (key) {
    headers.set("Authorization", `Bearer ${key}`);
  }
  const answer = await fetch(path, { ...options, headers }).catch((error) => {
    throw asGone(error);
  });
  if (answer.status === 401) {
    asks.dispatchEvent(new Event("key"));
  }
  if (!answer.ok) {
    const told = await answer.json().catch(() => ({}));
    throw new Error(told.error?.message ?? `the server answered ${answer.status}`);
  }
  return answer;
}

// A WebSocket of the server. A browser gives it no headers: the key goes as a subprotocol.
export function socket(path) {
  const key = sessionStorage.getItem(KEY);
  const address = new URL(path, location.href);
  address.protocol = address.protocol.replace("http", "ws");
  return new WebSocket(address, key ? ["realtime", `openai-insecure-api-key.${key}`] : ["realtime"]);
}

// What an answer has between such ends, as it comes.
async function* pieces(answer, end) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let kept = "";
  for (;;) {
    const { value, done } = await reader.read().catch((error) => {
      throw asGone(error);
    });
    if (done) {
      return;
    }
    kept += value;
    for (let at = kept.indexOf(end); at >= 0; at = kept.indexOf(end)) {
      yield kept.slice(0, at);
      kept = kept.slice(at + end.length);
    }
  }
}

// Server-sent events of an answer, each as the object that it is.
export async function* events(answer) {
  for await (const piece of pieces(answer, "\n\n")) {
    const data = piece.split("\n").filter((line) => line.startsWith("data: "));
    const text = data.map((line) => line.slice(6)).join("\n");
    if (text && text !== "[DONE]") {
      yield JSON.parse(text);
    }
  }
}

// Lines of JSON of an answer, each as the object that it is.
export async function* lines(answer) {
  for await (const line of pieces(answer, "\n")) {
    if (line) {
      yield JSON.parse(line);
    }
  }
}
