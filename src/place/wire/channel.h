// Channel: messages between mynah and one lane of a worker: a socket that says that there is one,
// and a shared segment in each direction that it lies in. One message is on its way at a time in
// each direction.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/shared_memory.h"
#include "base/turns.h"
#include "base/unique_fd.h"

namespace mynah::place {

struct Message {
  uint64_t request = 0;  // its number, from 1 on; an answer has that of its request
  uint32_t kind = 0;
  Urgency urgency = Urgency::Bulk;   // of the thread that sent it
  std::span<const std::byte> bytes;  // until the next message of this direction
  std::vector<UniqueFd> descriptors{};
};

// Whether descriptors that come with messages are taken. Where not they are closed.
enum class Descriptors : uint8_t { Refused, Taken };

class Channel {
 public:
  // A message of more than `most` bytes is none: what is told of its length is believed up to that.
  Channel(UniqueFd socket, SharedMemory outgoing, SharedMemory incoming, size_t most = SIZE_MAX,
          Descriptors descriptors = Descriptors::Refused)
      : socket_(std::move(socket)),
        outgoing_(std::move(outgoing)),
        incoming_(std::move(incoming)),
        most_(most),
        descriptors_(descriptors) {}

  // Io where nobody listens any more.
  Status send(uint64_t request, uint32_t kind, std::span<const std::byte> bytes);

  // The same of bytes that are written where they are read: into what room() returns, all of it,
  // and then they are sent, with copies of so many descriptors, kMostDescriptors at most.
  Result<std::span<std::byte>> room(size_t bytes);
  Status send_written(uint64_t request, uint32_t kind, size_t bytes,
                      std::span<const int> descriptors = {});

  static constexpr size_t kMostDescriptors = 4;

  // The next message; none after `limit` (no limit: waits for ever). Io where the other side has
  // gone, InvalidInput for what is no message.
  Result<std::optional<Message>> receive(std::optional<std::chrono::milliseconds> limit);

  [[nodiscard]] int socket() const { return socket_.get(); }

 private:
  UniqueFd socket_;
  SharedMemory outgoing_;
  SharedMemory incoming_;
  size_t most_;
  Descriptors descriptors_;
};

}  // namespace mynah::place
