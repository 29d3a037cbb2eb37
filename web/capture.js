// Hands on what the microphone hears, from the browser's thread for sound: 16-bit samples, a tenth of a second at once.
class Capture extends AudioWorkletProcessor {
  constructor() {
    super();
    this.kept = [];
    this.most = sampleRate / 10;
  }

  process([[samples]]) {
    if (samples) {
      this.kept.push(...samples);
    }
    if (this.kept.length >= this.most) {
      const pcm = Int16Array.from(this.kept, (sample) => 32767 * Math.max(-1, Math.min(1, sample)));
      this.port.postMessage(pcm.buffer, [pcm.buffer]);
      this.kept = [];
    }
    return true;
  }
}

registerProcessor("capture", Capture);
