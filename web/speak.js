// Text, said by a voice that is here.
import { ask } from "./api.js";

const byId = (id) => document.getElementById(id);

async function say(text, voice, speed) {
  const item = byId("recording").content.firstElementChild.cloneNode(true);
  item.querySelector("h3").textContent = voice;
  item.querySelector(".text").textContent = text;
  const state = item.querySelector(".state");
  state.textContent = "speaking";
  byId("spoken").prepend(item);
  try {
    const answer = await ask("v1/audio/speech", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ model: "tts-1", input: text, voice, speed, response_format: "mp3" }),
    });
    const audio = item.querySelector("audio");
    audio.src = URL.createObjectURL(await answer.blob());
    state.textContent = `${answer.headers.get("X-Mynah-Model")}, ${answer.headers.get("X-Mynah-Device")}`;
    const link = document.createElement("a");
    link.className = "button";
    link.textContent = "mp3";
    link.download = "said.mp3";
    link.href = audio.src;
    item.querySelector(".downloads").append(link);
    item.querySelector(".downloads").hidden = false;
    await audio.play().catch(() => {}); // a browser may want a click first
  } catch (error) {
    state.textContent = error.message;
    state.classList.add("wrong");
  }
}

export function startSpeaking() {
  const speed = byId("speed");
  speed.addEventListener("input", () => {
    byId("speed-told").textContent = `${Number(speed.value)}x`;
  });
  byId("speak-form").addEventListener("submit", (event) => {
    event.preventDefault();
    say(byId("text").value, byId("voice").value, Number(speed.value));
  });
}

// The voices to choose from, as the server names them.
export async function listVoices() {
  const { voices } = await (await ask("v1/audio/voices")).json();
  byId("voice").replaceChildren(...voices.map(({ id }) => new Option(id, id)));
  byId("voices").replaceChildren(
    ...voices.map(({ id }) => {
      const item = document.createElement("li");
      item.textContent = id;
      return item;
    }),
  );
}
