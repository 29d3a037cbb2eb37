// A pasted log: any bytes are explained or not, and what is shown of them is printable.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "doctor/errors/explain.h"
#include "doctor/errors/log_text.h"

namespace mynah::doctor {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view log(reinterpret_cast<const char*>(data), size);
  MYNAH_CHECK(plain_log(log).size() <= size, "the plain text is longer than the log");
  const auto lines = static_cast<uint64_t>(std::ranges::count(log, '\n')) + 1;
  for (const Explanation& explanation : explain(log, builtin_knowledge())) {
    MYNAH_CHECK(explanation.line >= 1 && explanation.line <= lines, "a line outside the log");
    MYNAH_CHECK(explanation.text.size() <= 300, "a long line is shown");
    MYNAH_CHECK(std::ranges::all_of(explanation.text, [](char c) { return c >= ' ' && c <= '~'; }),
                "what is shown is not printable");
    MYNAH_CHECK(!explanation.guess || explanation.sureness < 1, "a guess that is sure");
    for (const Remedy& remedy : explanation.remedies) {
      MYNAH_CHECK(!remedy.text.empty(), "a remedy says nothing");
      MYNAH_CHECK(remedy.command.find('{') == std::string::npos, "a remedy is not filled in");
    }
  }
  return 0;
}

}  // namespace mynah::doctor
