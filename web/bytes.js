// Bytes as the text that JSON has for them.

export function base64(buffer) {
  let text = "";
  for (const byte of new Uint8Array(buffer)) {
    text += String.fromCharCode(byte);
  }
  return btoa(text);
}

export function bytesOf(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}
