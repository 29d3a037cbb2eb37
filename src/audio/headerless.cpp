#include "audio/headerless.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "base/ascii.h"

namespace mynah {
namespace {

struct Headerless {
  std::string_view extension;
  std::string_view options;  // that would read most of its kind; empty: mynah has none
};

constexpr std::string_view kMulaw = "--raw mulaw --raw-rate 8000";
constexpr std::string_view kAlaw = "--raw alaw --raw-rate 8000";
constexpr std::string_view kTelephone = "--raw s16le --raw-rate 8000";
constexpr std::string_view kPlain = "--raw s16le --raw-rate 16000";
constexpr std::string_view kBytes = "--raw u8 --raw-rate 8000";

// Extensions of SoX's raw types (soxformat(7)), of Asterisk and of telephone switches.
constexpr auto kHeaderless = std::to_array<Headerless>({
    {"ul", kMulaw},
    {"ulaw", kMulaw},
    {"mulaw", kMulaw},
    {"mu", kMulaw},
    {"g711", kMulaw},
    {"g711u", kMulaw},
    {"al", kAlaw},
    {"alaw", kAlaw},
    {"g711a", kAlaw},
    {"sw", kTelephone},
    {"s2", kTelephone},
    {"s16", kPlain},
    {"s16le", kPlain},
    {"pcm", kPlain},
    {"raw", kPlain},
    {"uw", kPlain},
    {"u16", kPlain},
    {"ub", kBytes},
    {"u8", kBytes},
    {"sb", kBytes},
    {"s8", kBytes},
    {"s24", "--raw s24le --raw-rate 48000"},
    {"s24le", "--raw s24le --raw-rate 48000"},
    {"s32", "--raw s32le --raw-rate 48000"},
    {"s32le", "--raw s32le --raw-rate 48000"},
    {"f32", "--raw f32le --raw-rate 16000"},
    {"f32le", "--raw f32le --raw-rate 16000"},
    {"f64", "--raw f64le --raw-rate 16000"},
    {"f64le", "--raw f64le --raw-rate 16000"},
    {"vox", ""},
    {"lu", ""},
    {"la", ""},
    {"dvms", ""},
    {"cvsd", ""},
    {"cvs", ""},
    {"vms", ""},
    {"g721", ""},
    {"g723", ""},
    {"g726", ""},
    {"g728", ""},
});

// How the files that are misnamed most begin, and where in them that stands.
struct Magic {
  size_t at;
  std::string_view bytes;
};

using std::string_view_literals::operator""sv;

constexpr auto kMagic = std::to_array<Magic>({{0, "RIFF"},
                                              {0, "RF64"},
                                              {0, "BW64"},
                                              {0, "riff"},
                                              {0, "FORM"},
                                              {0, ".snd"},
                                              {0, "OggS"},
                                              {0, "fLaC"},
                                              {0, "ID3"},
                                              {0, "caff"},
                                              {0, "#!AMR"},
                                              {0, "NIST"},
                                              {0, "Creative"},
                                              {0, "\x1A\x45\xDF\xA3"sv},
                                              {0, "\x30\x26\xB2\x75"sv},
                                              {4, "ftyp"}});

}  // namespace

std::string file_extension(const std::string& name) {
  const size_t dot = name.find_last_of("./");
  if (dot == std::string::npos || name[dot] != '.') {
    return {};
  }
  std::string letters = name.substr(dot + 1);
  return std::ranges::all_of(letters, is_ascii_alnum) ? letters : std::string();
}

Status refuse_headerless(const InputFile& input) {
  if (!input.seekable) {
    return {};
  }
  const std::string written = file_extension(input.name);
  const std::string extension = ascii_lower(written);
  const auto* const found =
      std::ranges::find(kHeaderless, std::string_view(extension), &Headerless::extension);
  if (found == kHeaderless.end()) {
    return {};
  }
  std::array<char, 16> bytes{};
  const ssize_t got = ::pread(input.fd.get(), bytes.data(), bytes.size(), 0);
  const std::string_view head(bytes.data(), static_cast<size_t>(std::max<ssize_t>(got, 0)));
  if (std::ranges::any_of(kMagic, [head](const Magic& magic) {
        return head.size() >= magic.at && head.substr(magic.at).starts_with(magic.bytes);
      })) {
    return {};
  }
  return fail(
      ErrorCode::InvalidInput,
      found->options.empty()
          ? fmt::format("{} holds samples without a header, as .{} files do, of an encoding that "
                        "--raw has not: make a WAV of it first (SoX reads it)",
                        input.name, written)
          : fmt::format("{} holds samples without a header, as .{} files do: say what they are, "
                        "such as {} (--raw has u8, s16le, s24le, s32le, f32le, f64le, mulaw, alaw)",
                        input.name, written, found->options));
}

}  // namespace mynah
