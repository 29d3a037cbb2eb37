// Any bytes as a packed dictionary, and as the text that one is made of.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/check.h"
#include "base/mapped_file.h"
#include "text/phonemes/arpabet.h"
#include "text/phonemes/pronouncing_table.h"

namespace mynah {
namespace {

void look_up(std::span<const std::byte> bytes) {
  const auto table = PronouncingTable::open(MappedFile::from_bytes(bytes, "fuzz"));
  if (!table) {
    return;
  }
  for (const std::string_view word : {"", "a", "donald", "zoe", "\xFF"}) {
    if (const auto phones = table->find(word)) {
      MYNAH_CHECK(!phones->empty() && phones->size() <= bytes.size(), "phones from nowhere");
      for (const bool british : {false, true}) {
        MYNAH_CHECK(arpabet_in_kokoro(*phones, word, british).size() <= 3 * phones->size() + 3,
                    "more phonemes than phones can be");
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  look_up(bytes);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto packed = pack_pronouncing_dictionary(text, "fuzz")) {
    MYNAH_CHECK(
        PronouncingTable::open(MappedFile::from_bytes(std::as_bytes(std::span(*packed)), "packed"))
            .has_value(),
        "what was packed cannot be read");
    look_up(std::as_bytes(std::span(*packed)));
  }
  return 0;
}

}  // namespace mynah
