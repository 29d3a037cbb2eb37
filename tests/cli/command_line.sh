#!/usr/bin/env bash
# usage: command_line.sh MYNAH : runs the program as a user's shell does; each line of its own answer
# is one check. Needs no weights and no network.
set -u
mynah=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work MYNAH_HOME=$work/models-home
unset XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME MYNAH_CONFIG
failed=0

# check NAME CODE PATTERN COMMAND... : the exit code, and a line of stderr or stdout that matches.
check() {
  local name=$1 code=$2 pattern=$3
  shift 3
  "$@" >"$work/out" 2>"$work/err" </dev/null
  local got=$?
  if [ "$got" -ne "$code" ] ||
    { [ -n "$pattern" ] && ! grep -q -- "$pattern" "$work/out" "$work/err"; }; then
    echo "FAILED: $name: exit $got, wanted $code and a line with '$pattern'"
    cat "$work/out" "$work/err"
    failed=1
  else
    echo "ok: $name"
  fi
}

check "no arguments" 2 'usage: mynah VERB' "$mynah"
check "version" 0 '^mynah [0-9.]* (commit ' "$mynah" --version
check "unknown verb" 2 "there is no verb 'transcrib' (did you mean transcribe?)" "$mynah" transcrib
check "unknown flag" 2 'did you mean --beam?' "$mynah" transcribe --beem 3 a.wav
check "unknown model" 2 'did you mean tiny.en?' "$mynah" transcribe --model tinyy.en a.wav
check "unknown voice model" 2 'did you mean silero?' "$mynah" vad --model silro a.wav
check "unknown model to pull" 2 'did you mean tiny.en?' "$mynah" pull tinyy.en
check "unknown model to show" 2 'did you mean tiny.en?' "$mynah" models show tinyy.en
check "names behind list" 2 "list takes no names, found 'tiny.en'" "$mynah" models list tiny.en
check "model to remove that is not here" 3 'not on this machine' "$mynah" models remove tiny.en
check "model's path is missing" 1 'found nothing at ./none.gguf' "$mynah" transcribe --model ./none.gguf a.wav
check "model not here" 3 "run 'mynah pull tiny.en'" "$mynah" transcribe --offline --model tiny.en a.wav
check "device of other engines" 2 "as --device cuda (the first) or cuda:N" "$mynah" transcribe --device metal a.wav
check "word that is no device" 2 "wanted auto, cpu, cuda, ref, simt:0 or cuda:N, found 'banana'" "$mynah" vad --device banana a.wav
check "gpu is no device" 2 'wanted auto, cpu, cuda, ref, simt:0 or cuda:N' "$mynah" transcribe --device gpu a.wav
check "card that is not there in JSON" 3 '{"error":{"code":"device"' env CUDA_VISIBLE_DEVICES= MYNAH_CUDA_DRIVER=/nonexistent/libcuda.so.1 "$mynah" transcribe --json --device cuda a.wav
check "profile that is not there" 2 'there is no profile' "$mynah" transcribe --device profile:none a.wav
check "keep-alive as a word" 2 "wanted seconds, or a time such as 30s, 5m or 1h (0: nothing is kept), or never (nothing is let go), found 'soon'" "$mynah" transcribe --keep-alive soon a.wav
check "keep-alive in a unit of weeks" 2 "wanted seconds, or a time such as 30s, 5m or 1h .*, found '1w'" "$mynah" transcribe --keep-alive 1w a.wav
check "keep-alive below 0 is never, as ollama has it" 1 'a.wav does not exist' "$mynah" transcribe --keep-alive -1 a.wav
check "max-vram in digits that are no size" 2 "wanted a size such as 4GB or 800MB (a number with B, K, KB, KiB, M, MB, MiB, G, GB or GiB), found '1e9'" "$mynah" transcribe --max-vram 1e9 a.wav
check "max-vram in kilobytes" 1 'a.wav does not exist' "$mynah" transcribe --max-vram 100KB a.wav
check "keep-alive in seconds" 1 'a.wav does not exist' "$mynah" transcribe --keep-alive 5 a.wav
check "max-vram without its unit" 2 "found '4', which is 4 bytes: its unit is missing" "$mynah" transcribe --max-vram 4 a.wav
check "all that --device takes" 0 'stt=cuda,tts=cpu' "$mynah" vad --help
check "card that is not there" 3 'cuda:0: ' env CUDA_VISIBLE_DEVICES= MYNAH_CUDA_DRIVER=/nonexistent/libcuda.so.1 "$mynah" transcribe --device cuda a.wav
check "misspelt device" 2 'did you mean cpu?' "$mynah" transcribe --device cpuu a.wav
check "misspelt device of vad" 2 "wanted auto, cpu, cuda, ref, simt:0 or cuda:N, found 'cuda:'" "$mynah" vad --device cuda: a.wav
check "doctor of a place that is not there" 1 'there is no such place' "$mynah" doctor "$work/nowhere"
check "doctor explains" 0 'no kernel image' "$mynah" doctor explain 'CUDA error: no kernel image is available for execution on the device'
check "doctor knows nothing of it" 1 'no known error' "$mynah" doctor explain 'all is well'
check "doctor's knowledge" 0 "the program's own" "$mynah" doctor update --show
check "doctor tries what hangs" 3 'hangs: after' "$mynah" doctor try --timeout 1 -- sleep 100
check "doctor tries what ends" 0 'exited 0' "$mynah" doctor try -- true --json
check "doctor tries what fails" 1 'exited 7' "$mynah" doctor try -- sh -c 'exit 7'
check "refused flag" 2 'is not done' "$mynah" transcribe -f a.wav -fp font.ttf
check "table is missing" 1 'No such file' "$mynah" wer "$work/none.tsv"

for verb in $("$mynah" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
  check "$verb --help" 0 "usage: mynah $verb" "$mynah" "$verb" --help
  check "$verb --help has --json" 0 '--json' "$mynah" "$verb" --help
  check "$verb refuses in JSON" 2 '{"error":{"code":"usage"' "$mynah" "$verb" --json --no-such-flag
done
for verb in version config models; do
  check "$verb --json" 0 '' "$mynah" "$verb" --json
  while IFS= read -r line; do
    case $line in
      '{'*'}' | '['*']') ;;
      *) echo "FAILED: $verb --json printed: $line"; failed=1 ;;
    esac
  done <"$work/out"
done

# A reader that goes away: no message, and the code of a command that SIGPIPE ended.
{ "$mynah" config --markdown; echo $? >"$work/code"; } 2>"$work/err" | head -c 1 >/dev/null
case $(cat "$work/code") in
  0 | 141) [ -s "$work/err" ] && { echo "FAILED: closed stdout said:"; cat "$work/err"; failed=1; } ;;
  *) echo "FAILED: closed stdout ended with $(cat "$work/code")"; failed=1 ;;
esac
if [ -e /dev/full ]; then
  "$mynah" config >/dev/full 2>"$work/err"
  [ $? -eq 1 ] && grep -q 'No space left on device' "$work/err" || { echo "FAILED: full stdout"; failed=1; }
fi
exit $failed
