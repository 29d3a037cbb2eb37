// whisper-cli's flags, and those of whisper and whisperX.
#include <array>

#include "cli/command/peer_flags.h"

namespace mynah::cli {

namespace {

using enum PeerValue;

// whisper.cpp examples/cli/cli.cpp, in the order of its --help; then what whisper and whisperX have
// under other names. Flags that mynah calls the same are not here. {} is the value.
constexpr auto kWhisperFlags = std::to_array<PeerFlag>({
    {"-t", "--threads", Text, "--threads={}", "", ""},
    {"-p", "--processors", Text, "", "1",
     "mynah decodes the windows of a recording together: use --batch and --threads"},
    {"-ot", "--offset-t", Text, "--start={s}", "0", ""},
    {"-on", "--offset-n", Text, "--cue-offset={}", "", ""},
    {"-d", "--duration", Text, "--length={s}", "0", ""},
    {"-mc", "--max-context", Text, "--max-context-tokens={}", "-1", ""},
    {"-ml", "--max-len", Text, "--max-segment-length={}", "0", ""},
    {"-sow", "--split-on-word", None, "", "", ""},  // mynah never cuts inside a word
    {"-bo", "--best-of", Text, "--best-of={}", "", ""},
    {"-bs", "--beam-size", Text, "--beam={}", "", ""},
    {"-ac", "--audio-ctx", Text, "--context=cached", "0", ""},
    {"-wt", "--word-thold", Text, "", "", ""},  // word times come from cross-attention here
    {"-et", "--entropy-thold", Text, "--entropy-threshold={}", "", ""},
    {"-lpt", "--logprob-thold", Text, "--log-probability-threshold={}", "", ""},
    {"-nth", "--no-speech-thold", Text, "--no-speech-threshold={}", "", ""},
    {"-tp", "--temperature", Text, "--temperature={}", "", ""},
    {"-tpi", "--temperature-inc", Text, "--temperature-increment={}", "", ""},
    {"-debug", "--debug-mode", None, "--explain", "", ""},
    {"-tr", "--translate", None, "--task=translate", "", ""},
    {"-di", "--diarize", None, "--stereo-speakers --style=whisper.cpp", "", ""},
    {"-tdrz", "--tinydiarize", None, "", "",
     "mynah has no tinydiarize models: use --stereo-speakers where each speaker has a channel"},
    {"-nf", "--no-fallback", None, "--no-fallback", "", ""},
    {"-otxt", "--output-txt", None, "--format=txt --output-beside --style=whisper.cpp", "", ""},
    {"-ovtt", "--output-vtt", None, "--format=vtt --output-beside --style=whisper.cpp", "", ""},
    {"-osrt", "--output-srt", None, "--format=srt --output-beside --style=whisper.cpp", "", ""},
    {"-olrc", "--output-lrc", None, "--format=lrc --output-beside --style=whisper.cpp", "", ""},
    {"-owts", "--output-words", None, "--format=wts --output-beside --style=whisper.cpp", "", ""},
    {"-fp", "--font-path", Text, "", "",
     "the karaoke script takes the system's monospace font: leave it out"},
    {"-ocsv", "--output-csv", None, "--format=csv --output-beside --style=whisper.cpp", "", ""},
    {"-oj", "--output-json", None, "--format=json --output-beside --style=whisper.cpp", "", ""},
    {"-ojf", "--output-json-full", None, "--format=json-full --output-beside --style=whisper.cpp",
     "", ""},
    {"-of", "--output-file", Text, "--output-file={}", "", ""},
    {"-np", "--no-prints", None, "--quiet --style=whisper.cpp", "", ""},
    {"-ps", "--print-special", None, "--special-tokens --style=whisper.cpp", "", ""},
    {"-pc", "--print-colors", None, "--confidence --style=whisper.cpp", "", ""},
    {"", "--print-confidence", None, "--confidence-marks --style=whisper.cpp", "", ""},
    {"-pp", "--print-progress", None, "--progress-lines", "", ""},
    {"-nt", "--no-timestamps", None, "--no-timestamps --style=whisper.cpp", "", ""},
    {"-l", "--language", Text, "--language={}", "", ""},
    {"-dl", "--detect-language", None, "--detect-language", "", ""},
    {"", "--prompt", Text, "--initial-prompt={}", "", ""},
    {"", "--carry-initial-prompt", None, "--carry-initial-prompt", "", ""},
    {"-m", "--model", Text, "--model={}", "", ""},
    {"-f", "--file", Text, "{} --style=whisper.cpp", "", ""},
    {"-oved", "--ov-e-device", Text, "", "", "mynah does not use OpenVINO: use --device"},
    {"-dtw", "--dtw", Text, "--words", "", ""},
    {"-ls", "--log-score", None, "", "",
     "token probabilities are in --output-json-full; word probabilities in --words --json"},
    {"-ng", "--no-gpu", None, "--device=cpu", "", ""},
    {"-dev", "--device", Number, "", "", ""},  // the number of a GPU, of which none is used
    {"-fa", "--flash-attn", None, "", "", ""},
    {"-nfa", "--no-flash-attn", None, "", "", ""},
    {"-sns", "--suppress-nst", None, "--suppress-tokens=-1", "", ""},
    {"", "--suppress-regex", Text, "--suppress-regex={}", "", ""},
    {"", "--grammar", Text, "", "",
     "mynah writes by no grammar: use --initial-prompt or --hotwords"},
    {"", "--grammar-rule", Text, "", "",
     "mynah writes by no grammar: use --initial-prompt or --hotwords"},
    {"", "--grammar-penalty", Text, "", "",
     "mynah writes by no grammar: use --initial-prompt or --hotwords"},
    {"", "--vad", None, "--vad", "", ""},
    {"-vm", "--vad-model", Text, "--vad-model={}", "", ""},
    {"-vt", "--vad-threshold", Text, "--vad-threshold={}", "", ""},
    {"-vspd", "--vad-min-speech-duration-ms", Text, "--vad-min-speech-ms={}", "", ""},
    {"-vsd", "--vad-min-silence-duration-ms", Text, "--vad-min-silence-ms={}", "", ""},
    {"-vmsd", "--vad-max-speech-duration-s", Text, "--vad-max-speech-s={}", "", ""},
    {"-vp", "--vad-speech-pad-ms", Text, "--vad-speech-pad-ms={}", "", ""},
    {"-vo", "--vad-samples-overlap", Text, "", "", ""},  // chunks never overlap here

    {"", "--output-format", Text, "--format={}", "", ""},
    {"", "--max-line-width", Text, "--max-line-width={}", "None", ""},
    {"", "--max-line-count", Text, "--max-line-count={}", "None", ""},
    {"", "--fp16", Text, "", "", ""},  // --storage and --precision choose the arithmetic here
    {"", "--compute-type", Text, "--storage={}", "default auto", ""},
    {"", "--batch-size", Text, "--batch={}", "", ""},
    {"", "--chunk-size", Text, "--chunk-length={}", "", ""},
    {"", "--vad-onset", Text, "--vad-threshold={}", "", ""},
    {"", "--vad-offset", Text, "--vad-negative-threshold={}", "", ""},
    {"", "--min-speakers", Text, "", "",
     "mynah tells speakers apart by channel only: use --stereo-speakers"},
    {"", "--max-speakers", Text, "", "",
     "mynah tells speakers apart by channel only: use --stereo-speakers"},
});

}  // namespace

std::span<const PeerFlag> whisper_flags() {
  return kWhisperFlags;
}

}  // namespace mynah::cli
