// Segments as files: text, and cues with times.

function clock(seconds, point) {
  const ms = Math.round(seconds * 1000);
  const part = (value, digits) => String(Math.floor(value)).padStart(digits, "0");
  return `${part(ms / 3600000, 2)}:${part((ms / 60000) % 60, 2)}:${part((ms / 1000) % 60, 2)}${point}${part(ms % 1000, 3)}`;
}

export function asText(segments) {
  return `${segments.map((segment) => segment.delta).join("").trim()}\n`;
}

export function asSubtitles(segments, format) {
  const point = format === "srt" ? "," : ".";
  const cues = segments.map((segment, index) => {
    const number = format === "srt" ? `${index + 1}\n` : "";
    return `${number}${clock(segment.start, point)} --> ${clock(segment.end, point)}\n${segment.delta.trim()}\n`;
  });
  return (format === "vtt" ? "WEBVTT\n\n" : "") + cues.join("\n");
}
