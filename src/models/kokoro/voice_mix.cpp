#include "models/kokoro/voice_mix.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/check.h"
#include "formats/byte_reader.h"

namespace mynah::kokoro {

namespace {

constexpr std::string_view kBetween = "+-,";
constexpr std::string_view kSpaces = " \t\r\n";

std::unexpected<Error> unusable_mix(std::string_view mix, const std::string& found) {
  return fail(ErrorCode::InvalidInput,
              fmt::format("voice {}: wanted voices as in af_bella(2)+af_sky(1), found {}",
                          in_quotes(mix), found));
}

// Where the share that begins `text` ends: at the sign before the next one, of which those in
// brackets are none.
size_t end_of_share(std::string_view text) {
  size_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') {
      ++depth;
    } else if (text[i] == ')' && depth > 0) {
      --depth;
    } else if (depth == 0 && kBetween.find(text[i]) != std::string_view::npos) {
      return i;
    }
  }
  return text.size();
}

// The number in brackets.
Result<float> parse_weight(std::string_view mix, std::string_view text) {
  float weight = 0.0F;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), weight);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(weight) ||
      weight <= 0.0F) {
    return unusable_mix(mix, fmt::format("weight {}, which is no number above 0", in_quotes(text)));
  }
  return weight;
}

Result<VoiceShare> parse_share(std::string_view mix, std::string_view text) {
  const size_t bracket = text.find('(');
  VoiceShare share{.name = std::string(trimmed(text.substr(0, bracket), kSpaces))};
  if (share.name.empty()) {
    return unusable_mix(mix, "no name before or after a sign");
  }
  if (share.name.find_first_of(":*=") != std::string::npos) {
    return unusable_mix(mix, fmt::format("{}: a weight stands in brackets", in_quotes(share.name)));
  }
  if (bracket != std::string_view::npos) {
    const std::string_view rest = trimmed(text.substr(bracket + 1), kSpaces);
    if (!rest.ends_with(')')) {
      return unusable_mix(mix, "a bracket that does not close at the end of a voice");
    }
    MYNAH_TRY(share.weight, parse_weight(mix, trimmed(rest.substr(0, rest.size() - 1), kSpaces)));
  } else if (share.name.find(')') != std::string::npos) {
    return unusable_mix(mix, "a bracket that closes none");
  }
  return share;
}

}  // namespace

Result<std::vector<VoiceShare>> parse_voice_mix(std::string_view text) {
  std::vector<VoiceShare> shares;
  std::string_view rest = text;
  float sum = 0.0F;
  for (float sign = 1.0F;;) {
    const size_t end = end_of_share(rest);
    MYNAH_TRY(VoiceShare share, parse_share(text, rest.substr(0, end)));
    sum += share.weight;
    share.weight *= sign;
    shares.push_back(std::move(share));
    if (end == rest.size()) {
      break;
    }
    sign = rest[end] == '-' ? -1.0F : 1.0F;
    rest.remove_prefix(end + 1);
  }
  if (!std::isfinite(sum)) {
    return unusable_mix(text, "weights whose sum is no number");
  }
  for (VoiceShare& share : shares) {
    share.weight /= sum;
  }
  return shares;
}

VoicePack mix_voices(std::span<const VoicePack> packs, std::span<const float> weights) {
  MYNAH_CHECK(!packs.empty() && packs.size() == weights.size(), "[kokoro] a weight for each voice");
  VoicePack mix;
  mix.rows = std::ranges::max_element(packs, {}, &VoicePack::rows)->rows;
  const size_t width = packs.front().style(1).size();
  mix.styles.assign(mix.rows * width, 0.0F);
  for (size_t p = 0; p < packs.size(); ++p) {
    for (size_t row = 0; row < mix.rows; ++row) {
      const std::span<const float> style = packs[p].style(row + 1);
      for (size_t i = 0; i < width; ++i) {
        mix.styles[row * width + i] += weights[p] * style[i];
      }
    }
  }
  return mix;
}

}  // namespace mynah::kokoro
