// Recordings, dropped, chosen or spoken, as text that comes while it is heard.
import { ask, events } from "./api.js";
import { remember } from "./history.js";
import { hearAsJob } from "./jobs.js";
import { hearLive } from "./live.js";
import { asSubtitles, asText } from "./subtitles.js";

// A word that is less certain is marked.
const DOUBTFUL = 0.5;

const byId = (id) => document.getElementById(id);

function wordOf(word, audio) {
  const span = document.createElement("span");
  span.className = word.probability < DOUBTFUL ? "word doubt" : "word";
  span.textContent = word.word;
  span.dataset.start = word.start;
  span.dataset.end = word.end;
  span.tabIndex = 0;
  span.title = `${word.start.toFixed(1)} s, ${Math.round(100 * word.probability)} % certain`;
  const play = () => {
    audio.currentTime = word.start;
    audio.play();
  };
  span.addEventListener("click", play);
  span.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      play();
    }
  });
  return span;
}

function offerDownloads(item, name, segments) {
  const downloads = item.querySelector(".downloads");
  const files = {
    txt: asText(segments),
    srt: asSubtitles(segments, "srt"),
    vtt: asSubtitles(segments, "vtt"),
  };
  for (const [ending, text] of Object.entries(files)) {
    const link = document.createElement("a");
    link.className = "button";
    link.textContent = ending;
    link.download = `${name.replace(/\.[^.]*$/, "")}.${ending}`;
    link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    downloads.append(link);
  }
  downloads.hidden = false;
}

export function followSound(audio, text) {
  audio.addEventListener("timeupdate", () => {
    for (const word of text.querySelectorAll(".word")) {
      const now = audio.currentTime >= word.dataset.start && audio.currentTime < word.dataset.end;
      word.classList.toggle("now", now && !audio.paused);
    }
  });
}

async function hearInto(item, file) {
  const audio = item.querySelector("audio");
  const text = item.querySelector(".text");
  const state = item.querySelector(".state");
  audio.src = URL.createObjectURL(file);
  followSound(audio, text);
  const form = new FormData();
  form.set("file", file);
  form.set("model", "whisper-1");
  form.set("stream", "true");
  form.append("timestamp_granularities[]", "word");
  if (byId("language").value.trim()) {
    form.set("language", byId("language").value.trim());
  }
  const segments = [];
  const answer = await ask("v1/audio/transcriptions", { method: "POST", body: form });
  for await (const event of events(answer)) {
    if (event.error) {
      throw new Error(event.error.message);
    }
    if (event.type === "transcript.text.delta") {
      segments.push(event);
      text.append(...(event.words?.map((word) => wordOf(word, audio)) ?? [event.delta]));
      state.textContent = `heard up to ${event.end?.toFixed(0) ?? "?"} s`;
    }
  }
  const model = answer.headers.get("X-Mynah-Model");
  const device = answer.headers.get("X-Mynah-Device");
  state.textContent = segments.length > 0 ? `${model}, ${device}` : "nobody speaks";
  offerDownloads(item, file.name, segments);
  if (segments.length > 0) {
    remember(file.name, text.textContent.trim());
  }
}

async function hear(file) {
  const item = byId("recording").content.firstElementChild.cloneNode(true);
  item.querySelector("h3").textContent = file.name;
  const state = item.querySelector(".state");
  state.textContent = "listening";
  byId("heard").prepend(item);
  try {
    await hearInto(item, file);
  } catch (error) {
    state.textContent = error.message;
    state.classList.add("wrong");
  }
}

async function hearAll(files) {
  const asJobs = byId("as-job").checked;
  for (const file of files) {
    if (!asJobs) {
      await hear(file);
      continue;
    }
    try {
      await hearAsJob(file, byId("language").value.trim());
      location.hash = "jobs";
    } catch (error) {
      byId("told").textContent = error.message;
    }
  }
}

function takeFiles() {
  const drop = byId("drop");
  byId("files").addEventListener("change", (event) => hearAll([...event.target.files]));
  drop.addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    hearAll([...event.dataTransfer.files]);
  });
}

function takeMicrophone() {
  const button = byId("record");
  if (!navigator.mediaDevices?.getUserMedia) {
    button.disabled = true;
    byId("no-microphone").hidden = false;
    byId("no-microphone").textContent =
      "Browsers give a microphone to https and to this machine alone: mynah serve --lan has https.";
    return;
  }
  let recorder = null;
  button.addEventListener("click", async () => {
    if (recorder) {
      recorder.stop();
      return;
    }
    try {
      const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
      const pieces = [];
      const draft = byId("draft");
      // Where it does not come while somebody speaks, it does when they have.
      const stopLive = await hearLive(stream, byId("language").value.trim(), (text) => {
        draft.textContent = text;
      }).catch(() => () => {});
      recorder = new MediaRecorder(stream);
      recorder.addEventListener("dataavailable", (event) => pieces.push(event.data));
      recorder.addEventListener("stop", () => {
        stopLive();
        draft.textContent = "";
        stream.getTracks().forEach((track) => track.stop());
        const name = `recorded ${new Date().toLocaleTimeString()}.webm`;
        hear(new File(pieces, name, { type: recorder.mimeType }));
        recorder = null;
        button.textContent = "Record";
        button.setAttribute("aria-pressed", "false");
      });
      recorder.start();
      button.textContent = "Stop";
      button.setAttribute("aria-pressed", "true");
    } catch (error) {
      byId("no-microphone").hidden = false;
      byId("no-microphone").textContent = `no microphone: ${error.message}`;
    }
  });
}

export function startHearing() {
  takeFiles();
  takeMicrophone();
}
