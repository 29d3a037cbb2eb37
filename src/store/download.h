// A file fetched over HTTP into place: resumed, retried, hashed as it comes, checked against what
// the server itself says, renamed when whole.
#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/http.h"

namespace mynah {

// Hears how work on a model goes. Calls come from the thread that does the work.
class StoreObserver {
 public:
  virtual ~StoreObserver() = default;

  // Bytes of `what` that are there, and of how many; a total of 0 is unknown. Comes often.
  virtual void on_progress(std::string_view /*what*/, uint64_t /*done*/, uint64_t /*total*/) {}

  // One line for the user: a source that failed and what is tried next, a licence, a retry.
  virtual void on_message(std::string_view /*line*/) {}
};

struct DownloadOptions {
  HttpOptions http;
  int attempts = 6;  // in a row without progress
  std::chrono::milliseconds first_pause{500};
  std::chrono::milliseconds longest_pause{20'000};  // pauses double up to it
};

struct DownloadRequest {
  std::string name;  // for progress: "model.safetensors"
  std::string url;
  std::string sha256;  // pinned; empty: the server's own, where it says one
  uint64_t size = 0;   // 0: unknown
};

// Who vouches for the bytes that came.
enum class Proof : uint8_t {
  Pinned,  // equal to the SHA-256 that mynah carries
  Server,  // equal to the digest the server says: SHA-256 in X-Linked-ETag, git's blob name in ETag
  Transport  // the server says none: as long as promised, no more is known
};

// "pinned", "server", "transport".
[[nodiscard]] std::string_view name(Proof proof);

struct Downloaded {
  std::string url;     // where the bytes came from in the end
  std::string sha256;  // of the file
  uint64_t size = 0;
  std::string revision;  // X-Repo-Commit, or empty
  Proof proof = Proof::Transport;
};

// Fetches into `path`, where `path`.done.json then says what came; a file that an earlier run
// brought so is hashed and taken as it is, without asking the server. Works by way of `path`.part
// and `path`.part.json, which stay for a resume when the download is stopped or breaks for good. A
// part belongs to the ETag it was begun with; where the server has another file by now, it begins
// anew. Bytes that do not match their digest are thrown away. Fails with Environment where the
// server cannot be reached at all, NotFound where it does not give the file, Io where it broke off
// too often.
Result<Downloaded> download(const DownloadRequest& request, const std::string& path,
                            const DownloadOptions& options, StoreObserver& observer,
                            const std::stop_token& stop);

}  // namespace mynah
