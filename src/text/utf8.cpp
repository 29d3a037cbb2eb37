#include "text/utf8.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace mynah {
namespace {

// What a leading byte promises: the length of its sequence and the range of the second byte, which
// excludes overlong forms, surrogates and values above U+10FFFF (Unicode standard, table 3-7).
struct Lead {
  size_t length = 0;  // 0: not a leading byte
  uint8_t second_low = 0x80;
  uint8_t second_high = 0xBF;
};

Lead lead_of(uint8_t byte) {
  if (byte < 0x80) {
    return {.length = 1};
  }
  if (byte >= 0xC2 && byte <= 0xDF) {
    return {.length = 2};
  }
  if (byte >= 0xE0 && byte <= 0xEF) {
    return {.length = 3,
            .second_low = static_cast<uint8_t>(byte == 0xE0 ? 0xA0 : 0x80),
            .second_high = static_cast<uint8_t>(byte == 0xED ? 0x9F : 0xBF)};
  }
  if (byte >= 0xF0 && byte <= 0xF4) {
    return {.length = 4,
            .second_low = static_cast<uint8_t>(byte == 0xF0 ? 0x90 : 0x80),
            .second_high = static_cast<uint8_t>(byte == 0xF4 ? 0x8F : 0xBF)};
  }
  return {};
}

// How many of the bytes fit the sequence that the first one promises.
size_t fitting_bytes(std::string_view bytes, const Lead& lead) {
  size_t fit = 1;
  const size_t limit = std::min(lead.length, bytes.size());
  while (fit < limit) {
    const auto byte = static_cast<uint8_t>(bytes[fit]);
    const uint8_t low = fit == 1 ? lead.second_low : 0x80;
    const uint8_t high = fit == 1 ? lead.second_high : 0xBF;
    if (byte < low || byte > high) {
      break;
    }
    ++fit;
  }
  return fit;
}

}  // namespace

Utf8Step next_code_point(std::string_view bytes) {
  if (bytes.empty()) {
    return {};
  }
  const auto first = static_cast<uint8_t>(bytes[0]);
  const Lead lead = lead_of(first);
  if (lead.length == 0) {
    return {.bytes = 1};
  }
  const size_t fit = fitting_bytes(bytes, lead);
  if (fit < lead.length) {
    return {.bytes = fit};
  }
  // The leading byte keeps 7, 5, 4 or 3 bits of its own; every other byte carries six.
  char32_t value = lead.length == 1 ? first : first & (0x7FU >> lead.length);
  for (size_t i = 1; i < lead.length; ++i) {
    value = (value << 6) | (static_cast<uint8_t>(bytes[i]) & 0x3FU);
  }
  return {.code_point = value, .bytes = lead.length, .valid = true};
}

void append_utf8(std::string& text, char32_t code_point) {
  const auto tail = [&](int shift) {
    text += static_cast<char>(0x80 | ((code_point >> shift) & 0x3F));
  };
  if (code_point < 0x80) {
    text += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    text += static_cast<char>(0xC0 | (code_point >> 6));
    tail(0);
  } else if (code_point < 0x10000) {
    text += static_cast<char>(0xE0 | (code_point >> 12));
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xF0 | (code_point >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

std::string replace_invalid_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const Utf8Step step = next_code_point(bytes);
    if (step.valid) {
      text.append(bytes.substr(0, step.bytes));
    } else {
      append_utf8(text, kReplacementCharacter);
    }
    bytes.remove_prefix(step.bytes);
  }
  return text;
}

size_t incomplete_utf8_tail(std::string_view bytes) {
  for (size_t length = 1; length <= std::min<size_t>(3, bytes.size()); ++length) {
    const std::string_view tail = bytes.substr(bytes.size() - length);
    const Lead lead = lead_of(static_cast<uint8_t>(tail[0]));
    if (lead.length > length && fitting_bytes(tail, lead) == length) {
      return length;
    }
    if (lead.length != 0) {
      return 0;
    }
  }
  return 0;
}

std::string Utf8Stream::push(std::string_view bytes) {
  pending_ += bytes;
  const size_t complete = pending_.size() - incomplete_utf8_tail(pending_);
  std::string text = replace_invalid_utf8(std::string_view(pending_).substr(0, complete));
  pending_.erase(0, complete);
  return text;
}

std::string Utf8Stream::flush() {
  return replace_invalid_utf8(std::exchange(pending_, {}));
}

std::u32string to_code_points(std::string_view bytes) {
  std::u32string code_points;
  code_points.reserve(bytes.size());
  while (!bytes.empty()) {
    const Utf8Step step = next_code_point(bytes);
    code_points += step.code_point;
    bytes.remove_prefix(step.bytes);
  }
  return code_points;
}

std::string to_utf8(std::u32string_view code_points) {
  std::string text;
  text.reserve(code_points.size());
  for (const char32_t code_point : code_points) {
    append_utf8(text, code_point);
  }
  return text;
}

}  // namespace mynah
