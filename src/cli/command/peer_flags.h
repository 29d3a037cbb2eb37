// Flags of other programs as mynah's own, so that people's scripts go on working.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/command/fields.h"

namespace mynah::cli {

enum class PeerValue : uint8_t {
  None,    // a switch
  Text,    // takes a value
  Number,  // takes a whole number; with any other value the flag is mynah's own of that name
};

// One row: what is written there, and what it becomes here.
struct PeerFlag {
  std::string_view shorter;  // "-otxt"; empty: none
  std::string_view longer;   // "--output-txt"
  PeerValue value = PeerValue::None;
  // Arguments with spaces between; in each, {} is the value, {s} the value from milliseconds to
  // seconds, {/} one divided by it. Empty: nothing to do here.
  std::string_view becomes;
  // Values for which the flag asks for nothing, with spaces between: a peer's "off".
  std::string_view ignored_values;
  // Not empty: the flag is refused but for its ignored values, and this says what to use.
  std::string_view instead;
};

// whisper-cli (whisper.cpp), the whisper and whisperX commands.
[[nodiscard]] std::span<const PeerFlag> whisper_flags();

// piper.
[[nodiscard]] std::span<const PeerFlag> piper_flags();

// Replaces every flag of the table. Names may be written with '_' for '-', values behind '='. What
// stands behind "--" is left alone, and so are values of the options `own`, which may look like
// flags; null: none are known.
Result<std::vector<std::string>> translate_peer_flags(std::span<const PeerFlag> flags,
                                                      const std::vector<std::string>& arguments,
                                                      const Fields* own = nullptr);

}  // namespace mynah::cli
