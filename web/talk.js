// A conversation out loud, by Realtime: the microphone is heard, also while the reply is played; who speaks into it stops it.
import { socket } from "./api.js";
import { base64, bytesOf } from "./bytes.js";
import { Player } from "./player.js";

const RATE = 24000;
const HEARD = "conversation.item.input_audio_transcription";
const byId = (id) => document.getElementById(id);
let talk = null; // that goes on

class Talk {
  constructor() {
    this.turns = new Map(); // as they are shown, by their items
    this.response = null; // that is on its way
    this.dropped = new Set(); // responses and items of which no more is played
    this.stopped = 0; // when somebody ended a turn
  }

  tell(state) {
    byId("talk-state").textContent = state;
  }

  // The turn of an item, shown where it is not yet.
  turn(id, who) {
    if (!this.turns.has(id)) {
      const shown = byId("turn").content.firstElementChild.cloneNode(true);
      shown.querySelector("h3").textContent = who;
      byId("talked").append(shown);
      this.turns.set(id, shown);
      shown.scrollIntoView({ block: "nearest" });
    }
    return this.turns.get(id);
  }

  send(event) {
    if (this.connection?.readyState === WebSocket.OPEN) {
      this.connection.send(JSON.stringify(event));
    }
  }

  async begin() {
    const wanted = { echoCancellation: true, noiseSuppression: true, autoGainControl: true };
    this.stream = await navigator.mediaDevices.getUserMedia({ audio: wanted });
    this.player = new Player(RATE, () => this.response || this.tell("listening"));
    await this.player.open();
    byId("talk-echo").hidden = this.player.cancels;
    this.context = new AudioContext();
    await this.context.audioWorklet.addModule("capture.js");
    const capture = new AudioWorkletNode(this.context, "capture", { numberOfOutputs: 0 });
    this.connection = socket("v1/realtime?model=auto");
    this.connection.addEventListener("open", () => {
      const format = { type: "audio/pcm", rate: this.context.sampleRate };
      const input = { format, transcription: { model: "whisper-1" }, turn_detection: { type: "server_vad" } };
      const output = { format: { type: "audio/pcm", rate: RATE } };
      const voice = byId("talk-voice").value;
      const model = byId("talk-model").value;
      const audio = { input, output: voice ? { ...output, voice } : output };
      this.send({ type: "session.update", session: { type: "realtime", ...(model && { model }), output_modalities: ["audio"], audio } });
      this.context.createMediaStreamSource(this.stream).connect(capture);
    });
    this.connection.addEventListener("message", ({ data }) => this.take(JSON.parse(data)));
    this.connection.addEventListener("close", () => this.end("the server ended the conversation"));
    capture.port.addEventListener("message", ({ data }) => this.send({ type: "input_audio_buffer.append", audio: base64(data) }));
    capture.port.start();
  }

  // Ends what is played, and has the record say what of it was.
  hush() {
    if (this.response) {
      this.dropped.add(this.response);
    }
    const cut = this.player.stop();
    if (cut) {
      this.dropped.add(cut.item);
      this.send({ type: "conversation.item.truncate", item_id: cut.item, content_index: 0, audio_end_ms: cut.ms });
      this.send({ type: "conversation.item.retrieve", item_id: cut.item });
    }
  }

  // The stop key: nobody needs to speak over it.
  stop() {
    if (this.response) {
      this.send({ type: "response.cancel" });
    }
    this.hush();
    this.tell("listening");
  }

  takeSound({ response_id: response, item_id: id, delta }) {
    if (this.dropped.has(id) || this.dropped.has(response)) {
      return;
    }
    if (this.stopped) {
      this.turn(id, "mynah").querySelector(".state").textContent = `first sound after ${((performance.now() - this.stopped) / 1000).toFixed(1)} s`;
      this.stopped = 0;
    }
    this.tell("speaking");
    this.player.play(id, new Int16Array(bytesOf(delta).buffer));
  }

  // What was heard and said; whether the event is of that.
  takeText(event) {
    const { type, item_id: id } = event;
    if (type === `${HEARD}.delta`) {
      this.turn(id, "You").querySelector(".text").textContent += event.delta;
    } else if (type === `${HEARD}.completed`) {
      if (event.transcript) {
        this.turn(id, "You").querySelector(".text").textContent = event.transcript;
      } else if (!this.response) {
        this.tell("listening"); // it was no speech
      }
    } else if (type === "response.output_audio_transcript.delta") {
      this.turn(id, "mynah").querySelector(".text").textContent += event.delta;
    } else if (type === "conversation.item.retrieved") {
      const shown = this.turn(event.item.id, "mynah");
      shown.querySelector(".text").textContent = event.item.content[0]?.transcript ?? "";
      shown.querySelector(".state").textContent = "interrupted";
    }
  }

  take(event) {
    const { type } = event;
    if (type === "session.updated") {
      this.tell(event.session.note ?? "listening");
    } else if (type === "input_audio_buffer.speech_started") {
      this.hush();
      this.tell("hearing you");
    } else if (type === "input_audio_buffer.speech_stopped") {
      this.stopped = performance.now();
      this.tell("thinking");
    } else if (type === "response.created") {
      this.response = event.response.id;
    } else if (type === "response.output_audio.delta") {
      this.takeSound(event);
    } else if (type === "response.done") {
      this.response = null;
      const error = event.response.status_details?.error;
      if (error || !this.player.playing) {
        this.tell(error ? error.message : "listening");
      }
    } else if (type === "error" && event.error.code !== "response_cancel_not_active") {
      this.tell(event.error.message);
    } else {
      this.takeText(event);
    }
  }

  mute() {
    const track = this.stream.getAudioTracks()[0];
    track.enabled = !track.enabled;
    byId("talk-mute").setAttribute("aria-pressed", String(!track.enabled));
    this.tell(track.enabled ? "listening" : "muted");
  }

  end(why = "") {
    if (talk !== this) {
      return;
    }
    talk = null;
    this.stream?.getTracks().forEach((track) => track.stop());
    this.context?.close();
    this.player?.close();
    this.connection?.close();
    this.tell(why);
    showButtons(false);
  }
}

function showButtons(goes) {
  byId("talk-begin").textContent = goes ? "End" : "Talk";
  byId("talk-begin").setAttribute("aria-pressed", String(goes));
  byId("talk-stop").hidden = !goes;
  byId("talk-mute").hidden = !goes;
  byId("talk-mute").setAttribute("aria-pressed", "false");
}

export function startTalking() {
  if (!navigator.mediaDevices?.getUserMedia) {
    byId("talk-begin").disabled = true;
    byId("talk-state").textContent = "Browsers give a microphone to https and to this machine alone: mynah serve --lan has https.";
    return;
  }
  byId("talk-begin").addEventListener("click", async () => {
    if (talk) {
      talk.end();
      return;
    }
    const begun = new Talk();
    talk = begun;
    showButtons(true);
    begun.tell("opening the microphone");
    await begun.begin().catch((error) => begun.end(`no conversation: ${error.message}`));
  });
  byId("talk-stop").addEventListener("click", () => talk?.stop());
  byId("talk-mute").addEventListener("click", () => talk?.mute());
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && talk) {
      talk.stop();
    }
  });
}
