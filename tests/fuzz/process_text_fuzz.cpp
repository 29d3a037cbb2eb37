// What the system tells of a process, in which names are the process's own.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "doctor/watch/code_places.h"
#include "doctor/watch/process_view.h"
#include "doctor/watch/sockets.h"

namespace mynah::doctor {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const Mapping& mapping : parse_maps(text)) {
    MYNAH_CHECK(mapping.begin < mapping.end, "a mapping of nothing");
    MYNAH_CHECK(mapping.path.size() <= size, "a path longer than the text");
  }
  for (const Sockets& sockets :
       {parse_tcp_sockets(text, false), parse_tcp_sockets(text, true), parse_unix_sockets(text)}) {
    for (const auto& [inode, socket] : sockets) {
      MYNAH_CHECK(socket.local.size() <= size + 8, "a name longer than the text");
      MYNAH_CHECK(!file_words("socket:[1]", sockets).empty(), "a socket without words");
    }
  }
  if (const auto line = parse_stat(text)) {
    MYNAH_CHECK(line->name.size() < size, "a name longer than the line");
  }
  return 0;
}

}  // namespace mynah::doctor
