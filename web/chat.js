// A conversation with a language model that is here; it is kept by nobody, and ends with the page.
import { ask, events } from "./api.js";
import { offer } from "./choice.js";

const byId = (id) => document.getElementById(id);
let messages = [];
let running = null; // what stops the reply that is written
const AT_END_PX = 80;

// Changes the page and keeps its end in sight, unless its reader went up to what was said before.
function followed(change) {
  const page = document.documentElement;
  const follow = !byId("chat").hidden && page.scrollHeight - scrollY - innerHeight < AT_END_PX;
  change();
  if (follow) {
    scrollTo(0, page.scrollHeight);
  }
}

// A turn of the conversation as it is shown, with its parts.
function show(who, text = "") {
  const item = byId("turn").content.firstElementChild.cloneNode(true);
  item.querySelector("h3").textContent = who;
  item.querySelector(".text").textContent = text;
  byId("said").append(item);
  return item;
}

// A piece of a reply, where it belongs.
function showPiece(item, { choices, mynah_notes: notes }) {
  const text = item.querySelector(".text");
  const thought = item.querySelector(".thought");
  const state = item.querySelector(".state");
  const delta = choices[0]?.delta ?? {};
  text.textContent += delta.content ?? "";
  if (delta.reasoning_content) {
    thought.hidden = false;
    thought.querySelector("p").textContent += delta.reasoning_content;
  }
  thought.querySelector("summary").textContent = text.textContent ? "Thought" : "Thinking";
  if (notes) {
    state.textContent += notes.map((note) => `; ${note.text}`).join("");
  }
  if (choices[0]?.finish_reason === "length") {
    state.textContent += "; the context is full";
  }
}

// Writes a reply to the conversation as it comes.
async function write(item, conversation, signal) {
  const answer = await ask("v1/chat/completions", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ model: byId("chat-model").value, messages: conversation, stream: true, truncation: "auto" }),
    signal,
  });
  item.querySelector("h3").textContent = answer.headers.get("X-Mynah-Model");
  item.querySelector(".state").textContent = answer.headers.get("X-Mynah-Device");
  for await (const piece of events(answer)) {
    if (piece.error) {
      throw new Error(piece.error.message);
    }
    followed(() => showPiece(item, piece));
  }
}

async function send(said) {
  const conversation = messages; // a new one may begin meanwhile
  conversation.push({ role: "user", content: said });
  show("You", said);
  const item = show(byId("chat-model").value);
  scrollTo(0, document.documentElement.scrollHeight);
  running = new AbortController();
  byId("send").disabled = true;
  byId("stop").hidden = false;
  item.setAttribute("aria-busy", "true"); // read aloud once, when it is whole
  const state = item.querySelector(".state");
  state.textContent = "waiting for the first word";
  try {
    await write(item, conversation, running.signal);
  } catch (error) {
    state.textContent = running.signal.aborted ? "stopped" : error.message;
    state.classList.toggle("wrong", !running.signal.aborted);
  }
  const text = item.querySelector(".text").textContent;
  if (text) {
    conversation.push({ role: "assistant", content: text });
  } else {
    conversation.pop(); // it was not answered: the next message stands in its place
    byId("message").value ||= conversation === messages ? said : "";
  }
  item.removeAttribute("aria-busy");
  byId("send").disabled = false;
  byId("stop").hidden = true;
  running = null;
}

export function startChat() {
  const message = byId("message");
  byId("chat-form").addEventListener("submit", (event) => {
    event.preventDefault();
    if (!running && message.value.trim()) {
      send(message.value);
      message.value = "";
    }
  });
  message.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      byId("chat-form").requestSubmit();
    }
  });
  byId("stop").addEventListener("click", () => running?.abort());
  byId("new-chat").addEventListener("click", () => {
    running?.abort();
    messages = [];
    byId("said").replaceChildren();
  });
}

// The models to choose from, the default first.
export async function listChatModels() {
  const { data } = await (await ask("v1/models")).json();
  const writing = data.filter((model) => model.task === "text-generation");
  offer(byId("chat-model"), writing.map(({ id }) => id));
  offer(byId("talk-model"), writing.map(({ id }) => id));
  byId("send").disabled = writing.length === 0;
  byId("message").placeholder =
    writing.length === 0 ? "No language model is here: bring one, such as smollm2, below 'What is here'" : "";
}
