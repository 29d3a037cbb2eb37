#include "doctor/watch/idle.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include <unistd.h>

#include "doctor/watch/process_view.h"
#include "doctor/watch/sockets.h"

namespace mynah::doctor {

namespace {

// Libraries that compute on cards or talk to them, by a part of their names.
constexpr auto kOfCards = std::to_array<std::string_view>(
    {"cuda", "nvidia", "nvrtc", "nccl", "cublas", "cudnn", "torch", "c10", "onnxruntime",
     "ctranslate2", "ggml", "llama", "hip", "rocm", "tensorrt", "nvinfer"});

std::string_view file_name(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool is_of_cards(const CodePlace& place) {
  const std::string_view name = file_name(place.library);
  return std::ranges::any_of(kOfCards, [&](std::string_view part) { return name.contains(part); });
}

// Inside of a driver, or for another thread that may be.
bool is_stuck(const ThreadPlace& thread) {
  if (thread.state == 'D' || thread.system_call.starts_with("ioctl")) {
    return true;
  }
  const bool is_first = thread.thread == thread.process;
  return is_first && thread.system_call == "futex" &&
         (is_of_cards(thread.at) || std::ranges::any_of(thread.callers, is_of_cards));
}

}  // namespace

std::optional<Idle> why_idle(const Watched& watched) {
  if (std::ranges::any_of(watched.threads, is_stuck)) {
    return std::nullopt;
  }
  std::map<pid_t, Sockets> sockets;
  const std::string input = file_of(::getpid(), STDIN_FILENO);  // which is the command's, too
  std::set<std::string> listens;
  bool asks = false;
  for (const ThreadPlace& thread : watched.threads) {
    Sockets& known = sockets[thread.process];
    for (const int descriptor : thread.waits_for) {
      const std::string file = file_of(thread.process, descriptor);
      const bool read = !thread.system_call.starts_with("write");
      asks |= read && descriptor == STDIN_FILENO && !input.empty() && file == input;
      const uint64_t inode = socket_inode(file);
      if (inode == 0) {
        continue;
      }
      if (known.empty()) {
        known = sockets_of(thread.process);
      }
      const auto found = known.find(inode);
      if (found == known.end()) {
        continue;
      }
      const bool answers = thread.system_call.starts_with("re");  // read, recv...
      if (thread.thread == thread.process && answers && !found->second.remote.empty()) {
        return std::nullopt;
      }
      if (found->second.listens) {
        listens.insert(found->second.local.empty() ? file : found->second.local);
      }
    }
  }
  if (!listens.empty()) {
    return Idle{.end = WatchEnd::Serves, .waits_on = {listens.begin(), listens.end()}};
  }
  return asks ? std::optional(Idle{.end = WatchEnd::Asks, .waits_on = {input}}) : std::nullopt;
}

}  // namespace mynah::doctor
