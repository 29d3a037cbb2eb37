// Sound that is played as it comes, and of which it is known how much was.

// A stream as one that came from elsewhere: browsers cancel the echo of a peer connection's sound and of no other that a page plays.
async function throughConnection(stream) {
  const near = new RTCPeerConnection();
  const far = new RTCPeerConnection();
  near.addEventListener("icecandidate", ({ candidate }) => candidate && far.addIceCandidate(candidate));
  far.addEventListener("icecandidate", ({ candidate }) => candidate && near.addIceCandidate(candidate));
  const came = new Promise((resolve) => far.addEventListener("track", ({ streams }) => resolve(streams[0])));
  stream.getTracks().forEach((track) => near.addTrack(track, stream));
  await near.setLocalDescription();
  await far.setRemoteDescription(near.localDescription);
  await far.setLocalDescription();
  await near.setRemoteDescription(far.localDescription);
  const connected = new Promise((resolve, reject) => {
    far.addEventListener("connectionstatechange", () => {
      if (far.connectionState === "connected") {
        resolve();
      } else if (far.connectionState === "failed") {
        reject(new Error("no connection within the page"));
      }
    });
  });
  await connected;
  return { stream: await came, close: () => [near, far].forEach((end) => end.close()) };
}

export class Player {
  // `rate`: of the sound, in Hz. `quiet()` is called when all was played.
  constructor(rate, quiet) {
    this.rate = rate;
    this.quiet = quiet;
    this.context = new AudioContext();
    this.output = this.context.createMediaStreamDestination();
    this.sources = new Set();
    this.end = 0; // on the context's clock: of what is queued
    this.pieces = []; // of the item that is played: its begin and end on that clock
    this.item = null;
    this.cancels = false; // the browser's canceller hears it
    this.direct = false; // it is played without a connection
  }

  async open() {
    try {
      this.loop = await throughConnection(this.output.stream);
      this.audio = new Audio();
      this.audio.srcObject = this.loop.stream;
      await this.audio.play();
      this.cancels = true;
    } catch {
      this.loop?.close();
      this.loop = null;
      this.direct = true;
    }
    await this.context.resume();
  }

  get playing() {
    return this.sources.size > 0;
  }

  // 16-bit samples of that item, behind what is queued.
  play(item, pcm) {
    if (item !== this.item) {
      this.item = item;
      this.pieces = [];
    }
    const samples = Float32Array.from(pcm, (sample) => sample / 32768);
    if (samples.length === 0) {
      return;
    }
    const buffer = this.context.createBuffer(1, samples.length, this.rate);
    buffer.copyToChannel(samples, 0);
    const source = this.context.createBufferSource();
    source.buffer = buffer;
    source.connect(this.direct ? this.context.destination : this.output);
    const begin = Math.max(this.end, this.context.currentTime);
    this.end = begin + buffer.duration;
    this.pieces.push([begin, this.end]);
    this.sources.add(source);
    source.addEventListener("ended", () => {
      this.sources.delete(source);
      if (!this.playing) {
        this.quiet();
      }
    });
    source.start(begin);
  }

  // Milliseconds of the item that were played.
  played() {
    const now = this.context.currentTime;
    const seconds = this.pieces.reduce((sum, [begin, end]) => sum + Math.max(0, Math.min(now, end) - begin), 0);
    return Math.floor(1000 * seconds);
  }

  // Plays nothing more of what is queued. What of which item was played; null where nothing was cut.
  stop() {
    const cut = this.playing ? { item: this.item, ms: this.played() } : null;
    const sources = [...this.sources];
    this.sources.clear();
    sources.forEach((source) => source.stop());
    this.end = 0;
    this.pieces = [];
    this.item = null;
    return cut;
  }

  close() {
    this.stop();
    this.audio?.pause();
    this.loop?.close();
    this.context.close();
  }
}
