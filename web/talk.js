// A conversation out loud, by Realtime: the microphone is heard, also while the reply is played; who speaks into it stops it.
import { socket } from "./api.js";
import { base64, bytesOf } from "./bytes.js";
import { Player } from "./player.js";

const RATE = 24000;
// A connection that is lost is tried again so often, and first after so long; twice as long each time.
const TRIES = 6;
const FIRST_TRY_MS = 500;
const HEARD = "conversation.item.input_audio_transcription";
const byId = (id) => document.getElementById(id);
let talk = null; // that goes on

class Talk {
  constructor() {
    this.turns = new Map(); // as they are shown, by their items
    this.response = null; // that is on its way
    this.dropped = new Set(); // responses and items of which no more is played
    this.stopped = 0; // when somebody ended a turn
    this.muted = false;
    this.met = false; // a server was there
    this.tries = 0; // since then
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

  // What is told while nobody speaks and nothing is waited for.
  rest() {
    this.tell(this.muted ? "muted" : "listening");
  }

  async begin() {
    this.context = new AudioContext();
    await this.context.audioWorklet.addModule("capture.js");
    this.capture = new AudioWorkletNode(this.context, "capture", { numberOfOutputs: 0 });
    await this.openMicrophone();
    if (talk !== this) {
      return; // it was ended meanwhile
    }
    this.player = new Player(RATE, () => this.response || this.rest());
    await this.player.open();
    byId("talk-echo").hidden = this.player.cancels;
    this.capture.port.addEventListener("message", ({ data }) => this.send({ type: "input_audio_buffer.append", audio: base64(data) }));
    this.capture.port.start();
    this.connect();
  }

  async openMicrophone() {
    const wanted = { echoCancellation: true, noiseSuppression: true, autoGainControl: true };
    const stream = await navigator.mediaDevices.getUserMedia({ audio: wanted });
    if (talk !== this) {
      stream.getTracks().forEach((track) => track.stop());
      return;
    }
    this.stream = stream;
    const [track] = stream.getAudioTracks();
    track.enabled = !this.muted;
    track.addEventListener("ended", () => this.loseMicrophone());
    this.source?.disconnect();
    this.source = this.context.createMediaStreamSource(stream);
    this.source.connect(this.capture);
  }

  // It was unplugged, or is not allowed any more: another one may be there.
  async loseMicrophone() {
    if (talk !== this) {
      return;
    }
    this.tell("the microphone is gone; looking for another");
    try {
      await this.openMicrophone();
      this.rest();
    } catch (error) {
      this.end(`the microphone is gone: ${error.message}`);
    }
  }

  connect() {
    this.ready = false;
    const connection = socket("v1/realtime?model=auto");
    this.connection = connection;
    connection.addEventListener("open", () => {
      const format = { type: "audio/pcm", rate: this.context.sampleRate };
      const input = { format, transcription: { model: "whisper-1" }, turn_detection: { type: "server_vad" } };
      const output = { format: { type: "audio/pcm", rate: RATE } };
      const voice = byId("talk-voice").value;
      const model = byId("talk-model").value;
      const audio = { input, output: voice ? { ...output, voice } : output };
      this.send({ type: "session.update", session: { type: "realtime", ...(model && { model }), output_modalities: ["audio"], audio } });
      this.sayAgain();
    });
    connection.addEventListener("message", ({ data }) => this.take(JSON.parse(data)));
    connection.addEventListener("close", () => this.lose(connection));
  }

  // A server that was lost knows nothing of what was said before.
  sayAgain() {
    for (const [id, shown] of this.turns) {
      const text = shown.querySelector(".text").textContent;
      const role = shown.querySelector("h3").textContent === "You" ? "user" : "assistant";
      if (text) {
        const content = [{ type: role === "user" ? "input_text" : "output_text", text }];
        this.send({ type: "conversation.item.create", item: { id, type: "message", role, content } });
      }
    }
  }

  // The connection is: what is played ends, and it is tried again. One that never was is told of.
  lose(connection) {
    if (talk !== this || this.connection !== connection) {
      return;
    }
    if (!this.met || this.tries >= TRIES) {
      this.end(this.met ? "the connection is lost" : "no conversation: the server refused it or cannot be reached");
      return;
    }
    this.player.stop();
    this.response = null;
    this.stopped = 0;
    this.tell("the connection is lost; trying again");
    setTimeout(() => talk === this && this.connect(), FIRST_TRY_MS * 2 ** this.tries);
    this.tries += 1;
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
    this.rest();
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
        this.rest(); // it was no speech
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
      this.met = true;
      this.tries = 0;
      this.rest();
      byId("talk-note").textContent = event.session.note ?? "";
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
      if (!this.player.playing) {
        this.rest();
      }
      byId("talk-note").textContent = error?.message ?? "";
    } else if (type === "error" && event.error.code !== "response_cancel_not_active") {
      byId("talk-note").textContent = event.error.message;
    } else {
      this.takeText(event);
    }
  }

  mute() {
    this.muted = !this.muted;
    this.stream?.getAudioTracks().forEach((track) => (track.enabled = !this.muted));
    byId("talk-mute").setAttribute("aria-pressed", String(this.muted));
    if (!this.response && !this.player?.playing) {
      this.rest();
    }
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
