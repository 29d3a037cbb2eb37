// What asking NVIDIA's driver for its cards answered, kept from run to run: starting the driver
// takes longer than everything else that is asked of a machine.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "place/workers/driver_answer.h"

namespace mynah::place {

// An answer with all that it depends on.
struct CachedAnswer {
  std::string key;      // a text; any other text is another machine, driver, start or program
  std::string library;  // file_stamp() of the driver's library
  DriverAnswer answer;
};

// Which file this is: path, bytes and time of the last change, links followed; of no file, its path
// alone.
[[nodiscard]] std::string file_stamp(const std::string& path);

// The bytes of the cache's file: a line with a checksum, then JSON.
[[nodiscard]] std::string write_answer(const CachedAnswer& cached);

// None where a byte is wrong, or a value cannot be.
[[nodiscard]] std::optional<CachedAnswer> read_answer(std::string_view bytes);

// The answer in a file that was kept for this key, by the driver's library as it is now. None:
// there is no such file, it is damaged, or it is of another key.
[[nodiscard]] std::optional<DriverAnswer> find_answer(const std::string& file,
                                                      std::string_view key);

// Writes the file whole, and the folder it is in. Fails where it cannot be written, which costs
// time at the next start, nothing else.
[[nodiscard]] Status keep_answer(const std::string& file, std::string_view key,
                                 const DriverAnswer& answer);

}  // namespace mynah::place
