// piper's flags.
#include <array>

#include "cli/command/peer_flags.h"

namespace mynah::cli {

namespace {

using enum PeerValue;

// piper1-gpl src/piper/__main__.py and, under their older names, rhasspy/piper src/cpp/main.cpp.
// -f is mynah's own: there it names the sound, here the text.
constexpr auto kPiperFlags = std::to_array<PeerFlag>({
    {"-m", "--model", Text, "--model={}", "", ""},
    {"-c", "--config", Text, "--voice-config={}", "", ""},
    {"-i", "--input-file", Text, "--file={}", "", ""},
    {"", "--output-file", Text, "--out={}", "", ""},
    {"-d", "--output-dir", Text, "--output-dir={}", "", ""},
    {"", "--output-raw", None, "--format=pcm --out=-", "", ""},
    {"-s", "--speaker", Text, "--voice={}", "", ""},
    {"", "--length-scale", Text, "--speed={/}", "", ""},
    {"", "--noise-scale", Text, "--noise-scale={}", "", ""},
    {"", "--noise-w-scale", Text, "--noise-w={}", "", ""},
    {"", "--noise-w", Text, "--noise-w={}", "", ""},
    {"", "--sentence-silence", Text, "--sentence-silence={}", "", ""},
    {"", "--phoneme-silence", Text, "", "",
     "silence stands between sentences here: use --sentence-silence, or [pause:0.5s] in the text"},
    {"", "--volume", Text, "--volume={}", "", ""},
    {"", "--cuda", None, "--device=cuda", "", ""},
    {"", "--use-cuda", None, "--device=cuda", "", ""},
    {"", "--data-dir", Text, "", "", ""},      // models are where `mynah models` says
    {"", "--download-dir", Text, "", "", ""},  // the same
    {"", "--espeak-data", Text, "", "", "espeak-ng knows where its own data is: leave it out"},
    {"", "--debug", None, "--explain", "", ""},
});

}  // namespace

std::span<const PeerFlag> piper_flags() {
  return kPiperFlags;
}

}  // namespace mynah::cli
