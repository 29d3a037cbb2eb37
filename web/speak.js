// Text, said by a voice that is here.
import { ask } from "./api.js";
import { bytesOf } from "./bytes.js";
import { offer } from "./choice.js";
import { followSound } from "./hear.js";
import { remember } from "./history.js";

const SAMPLE = "This is how I sound.";
const byId = (id) => document.getElementById(id);

function post(path, fields) {
  return ask(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ model: "tts-1", response_format: "mp3", ...fields }),
  });
}

// The words with their times as spans that light up; what stands between them as it is.
function wordsOf(text, timestamps) {
  const parts = [];
  let at = 0;
  for (const { word, start_time: start, end_time: end } of timestamps) {
    const found = text.toLowerCase().indexOf(word.toLowerCase(), at);
    if (found < 0) {
      continue; // said otherwise than written: "two" for 2
    }
    const span = document.createElement("span");
    span.className = "word";
    span.textContent = text.slice(found, found + word.length);
    span.dataset.start = start;
    span.dataset.end = end;
    parts.push(text.slice(at, found), span);
    at = found + word.length;
  }
  return [...parts, text.slice(at)];
}

// The sound and its words' times; none of a voice that does not tell them.
async function soundOf(input, voice, speed) {
  try {
    const answer = await post("dev/captioned_speech", { input, voice, speed, stream: false });
    const { audio, timestamps } = await answer.json();
    return { answer, blob: new Blob([bytesOf(audio)], { type: "audio/mpeg" }), timestamps };
  } catch {
    const answer = await post("v1/audio/speech", { input, voice, speed }); // whose error is told
    return { answer, blob: await answer.blob(), timestamps: [] };
  }
}

async function say(input, voice, speed) {
  const item = byId("recording").content.firstElementChild.cloneNode(true);
  item.querySelector("h3").textContent = voice;
  const text = item.querySelector(".text");
  text.textContent = input;
  const state = item.querySelector(".state");
  state.textContent = "speaking";
  byId("spoken").prepend(item);
  try {
    const { answer, blob, timestamps } = await soundOf(input, voice, speed);
    const audio = item.querySelector("audio");
    audio.src = URL.createObjectURL(blob);
    if (timestamps?.length > 0) {
      text.replaceChildren(...wordsOf(input, timestamps));
      followSound(audio, text);
    }
    state.textContent = `${answer.headers.get("X-Mynah-Model")}, ${answer.headers.get("X-Mynah-Device")}`;
    const link = document.createElement("a");
    link.className = "button";
    link.textContent = "mp3";
    link.download = "said.mp3";
    link.href = audio.src;
    item.querySelector(".downloads").append(link);
    item.querySelector(".downloads").hidden = false;
    remember(voice, input);
    await audio.play().catch(() => {}); // a browser may want a click first
  } catch (error) {
    state.textContent = error.message;
    state.classList.add("wrong");
  }
}

async function playSample() {
  try {
    const answer = await post("v1/audio/speech", { input: SAMPLE, voice: byId("voice").value });
    await new Audio(URL.createObjectURL(await answer.blob())).play();
  } catch (error) {
    byId("told").textContent = error.message;
  }
}

export function startSpeaking() {
  const speed = byId("speed");
  speed.addEventListener("input", () => {
    byId("speed-told").textContent = `${Number(speed.value)}x`;
  });
  byId("sample").addEventListener("click", playSample);
  byId("speak-form").addEventListener("submit", (event) => {
    event.preventDefault();
    say(byId("text").value, byId("voice").value, Number(speed.value));
  });
}

// The voices to choose from, as the server names them.
export async function listVoices() {
  const { voices } = await (await ask("v1/audio/voices")).json();
  offer(byId("voice"), voices.map(({ id }) => id));
  offer(byId("talk-voice"), voices.map(({ id }) => id));
  byId("voices").replaceChildren(
    ...voices.map(({ id }) => {
      const item = document.createElement("li");
      item.textContent = id;
      return item;
    }),
  );
}
