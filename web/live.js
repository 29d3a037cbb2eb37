// What somebody says into the microphone, as text while they speak.
import { socket } from "./api.js";
import { base64 } from "./bytes.js";

// Hears a stream of the microphone; `told(text)` is called with all that was heard so far. The function that it returns ends it.
export async function hearLive(stream, language, told) {
  const context = new AudioContext();
  await context.audioWorklet.addModule("capture.js");
  const capture = new AudioWorkletNode(context, "capture", { numberOfOutputs: 0 });
  const connection = socket("v1/realtime?intent=transcription");
  const turns = new Map(); // the text of each by its item
  const tell = () => told([...turns.values()].join(" ").trim());
  connection.addEventListener("open", () => {
    const transcription = language ? { model: "whisper-1", language } : { model: "whisper-1" };
    const input = { format: { type: "audio/pcm", rate: context.sampleRate }, transcription, turn_detection: { type: "server_vad" } };
    connection.send(JSON.stringify({ type: "session.update", session: { type: "transcription", audio: { input } } }));
    context.createMediaStreamSource(stream).connect(capture);
  });
  capture.port.addEventListener("message", ({ data }) => {
    if (connection.readyState === WebSocket.OPEN) {
      connection.send(JSON.stringify({ type: "input_audio_buffer.append", audio: base64(data) }));
    }
  });
  capture.port.start();
  connection.addEventListener("message", ({ data }) => {
    const event = JSON.parse(data);
    if (event.type === "conversation.item.input_audio_transcription.delta") {
      turns.set(event.item_id, (turns.get(event.item_id) ?? "") + event.delta);
      tell();
    } else if (event.type === "conversation.item.input_audio_transcription.completed") {
      turns.set(event.item_id, event.transcript);
      tell();
    }
  });
  return () => {
    connection.close();
    context.close();
  };
}
