#include "store/download.h"

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "store/files.h"
#include "store/json_fields.h"
#include "store/server_promise.h"
#include "store/sha256.h"

namespace mynah {
namespace {

using Json = nlohmann::json;

// An attempt that brought at least this much counts as progress: what follows it starts with a
// short pause again.
constexpr uint64_t kProgressBytes = 1U << 20U;

Result<std::string> git_blob_name(const std::string& path, uint64_t size) {
  MYNAH_TRY(const std::string text, read_text_file(path));
  Digest digest(Digest::Kind::Sha1);
  digest.update(fmt::format("blob {}", size));
  digest.update(std::string_view("\0", 1));
  digest.update(text);
  return digest.hex();
}

enum class Outcome : uint8_t {
  Done,
  Retry,   // the same again after a pause may help
  GiveUp,  // this address will not do
};

// One file on its way.
class Download {
 public:
  Download(const DownloadRequest& request, std::string path, const DownloadOptions& options,
           StoreObserver& observer, const std::stop_token& stop)
      : request_(request),
        path_(std::move(path)),
        part_(path_ + ".part"),
        note_(path_ + ".part.json"),
        done_(path_ + ".done.json"),
        options_(options),
        observer_(observer),
        stop_(stop) {}

  Result<Downloaded> run();

 private:
  struct Attempt {
    Outcome outcome = Outcome::Done;
    Error error;
    std::optional<std::chrono::milliseconds> wanted_pause;  // the server's Retry-After
  };

  // True where an earlier run brought the file whole and what it noted still holds.
  bool take_finished();
  Attempt attempt();
  Status take_head(const HttpResponse& response);
  Status take_body(std::span<const std::byte> bytes);
  Status begin_at(uint64_t offset);
  Status hash_part();
  Attempt finish();
  Attempt judge_status(const HttpResponse& response);
  void read_note();
  void write_note() const;
  void write_done() const;
  void discard();
  bool pause(std::chrono::milliseconds length) const;

  const DownloadRequest& request_;
  std::string path_;
  std::string part_;
  std::string note_;
  std::string done_;
  const DownloadOptions& options_;
  StoreObserver& observer_;
  const std::stop_token& stop_;

  ServerPromise promise_;
  std::string final_url_;
  std::optional<Digest> digest_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{nullptr, &std::fclose};
  uint64_t have_ = 0;
  uint64_t asked_from_ = 0;
  bool fatal_ = false;  // an error of our own disk, or of a length that cannot be: no retry
  Downloaded result_;
};

Result<Downloaded> Download::run() {
  if (take_finished()) {
    return result_;
  }
  read_note();
  int failures = 0;
  auto pause_length = options_.first_pause;
  while (true) {
    const uint64_t before = have_;
    Attempt tried = attempt();
    file_.reset();
    if (tried.outcome == Outcome::Done) {
      return result_;
    }
    if (tried.outcome == Outcome::GiveUp || stop_.stop_requested()) {
      return std::unexpected(std::move(tried.error));
    }
    if (have_ > before && have_ - before >= kProgressBytes) {
      failures = 0;
      pause_length = options_.first_pause;
    }
    if (++failures >= options_.attempts) {
      return fail(tried.error.code,
                  fmt::format("{}; given up after {} attempts, the next pull goes on where this "
                              "one ended",
                              tried.error.message, failures));
    }
    const auto length = std::min(std::max(pause_length, tried.wanted_pause.value_or(pause_length)),
                                 options_.longest_pause);
    observer_.on_message(fmt::format("{}; trying again in {:.1f} s", tried.error.message,
                                     static_cast<double>(length.count()) / 1000));
    if (!pause(length)) {
      return fail(ErrorCode::Cancelled, "stopped");
    }
    pause_length = std::min(pause_length * 2, options_.longest_pause);
  }
}

bool Download::take_finished() {
  const auto text = read_text_file(done_, 65536);
  const Json note = text ? Json::parse(*text, nullptr, false) : Json();
  const uint64_t size = bytes_on_disk(path_);
  if (!text || text_field(note, "url") != request_.url || size_field(note, "size") != size) {
    return false;
  }
  const auto sha256 = sha256_of_file(path_, stop_);
  const bool pinned = !request_.sha256.empty();
  if (!sha256 || *sha256 != text_field(note, "sha256") || (pinned && *sha256 != request_.sha256)) {
    return false;
  }
  const std::string proof = text_field(note, "proof");
  result_ = {.url = text_field(note, "from"),
             .sha256 = *sha256,
             .size = size,
             .revision = text_field(note, "revision"),
             .proof = pinned                         ? Proof::Pinned
                      : proof == name(Proof::Server) ? Proof::Server
                                                     : Proof::Transport};
  return true;
}

Download::Attempt Download::attempt() {
  HttpRequest get{.url = request_.url, .range_start = have_, .if_range = promise_.etag};
  // Without an exact tag only a digest can tell whether the rest fits the part.
  if (get.if_range.empty() && promise_.sha256.empty() && request_.sha256.empty()) {
    get.range_start = 0;
  }
  asked_from_ = get.range_start;
  fatal_ = false;
  const auto response = http_get(
      get, options_.http, [this](const HttpResponse& head) { return take_head(head); },
      [this](std::span<const std::byte> bytes) { return take_body(bytes); }, stop_);
  if (!response) {
    const ErrorCode code = response.error().code;
    const bool hopeless = fatal_ || code == ErrorCode::InvalidInput ||
                          code == ErrorCode::Cancelled ||
                          (code == ErrorCode::Environment && have_ == 0);
    return {.outcome = hopeless ? Outcome::GiveUp : Outcome::Retry,
            .error = response.error(),
            .wanted_pause = {}};
  }
  if (response->status == 200 || response->status == 206) {
    return finish();
  }
  return judge_status(*response);
}

Status Download::take_head(const HttpResponse& response) {
  if (response.status != 200 && response.status != 206) {
    return {};
  }
  const ServerPromise promise = promise_of(response);
  const uint64_t start =
      response.status == 206
          ? parse_content_range(response.header("content-range")).start.value_or(UINT64_MAX)
          : 0;
  if (response.status == 206 && start != asked_from_) {
    discard();
    return fail(ErrorCode::Io, fmt::format("GET {}: asked for the bytes from {} on, got others",
                                           request_.url, asked_from_));
  }
  const bool other_file =
      !promise_.sha256.empty() && !promise.sha256.empty() && promise_.sha256 != promise.sha256;
  if (start > 0 && other_file) {
    discard();
    return fail(ErrorCode::Io,
                fmt::format("GET {}: the server has another file by now", request_.url));
  }
  promise_ = promise;
  final_url_ = response.url;
  const uint64_t total = std::max(promise_.size, request_.size);
  if (const Status space = check_disk_space(path_, total - std::min(start, total)); !space) {
    fatal_ = true;
    return space;
  }
  if (const Status begun = begin_at(start); !begun) {
    fatal_ = true;
    return begun;
  }
  write_note();
  return {};
}

Status Download::begin_at(uint64_t offset) {
  if (offset == 0) {
    digest_.emplace();
    have_ = 0;
  } else if (!digest_) {
    MYNAH_TRY_STATUS(hash_part());
  }
  file_.reset(std::fopen(part_.c_str(), offset == 0 ? "wbe" : "abe"));
  if (file_ == nullptr) {
    return fail(ErrorCode::Io, fmt::format("cannot write {}: {}", part_, std::strerror(errno)));
  }
  // Pieces are large. Unbuffered, a full disk shows where it happens, and what is counted is on
  // disk.
  std::setvbuf(file_.get(), nullptr, _IONBF, 0);
  return {};
}

Status Download::hash_part() {
  digest_.emplace();
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(part_.c_str(), "rbe"),
                                                             &std::fclose);
  if (file == nullptr) {
    return fail(ErrorCode::Io, fmt::format("cannot read {}: {}", part_, std::strerror(errno)));
  }
  constexpr size_t kPieceBytes = 1U << 20U;
  std::vector<std::byte> piece(kPieceBytes);
  for (size_t count = kPieceBytes; count == kPieceBytes;) {  // less: the end, or an error
    count = std::fread(piece.data(), 1, kPieceBytes, file.get());
    digest_->update(std::span(piece).first(count));
  }
  if (std::ferror(file.get()) != 0) {
    return fail(ErrorCode::Io, fmt::format("cannot read {}: {}", part_, std::strerror(errno)));
  }
  return {};
}

Status Download::take_body(std::span<const std::byte> bytes) {
  const uint64_t limit = request_.size != 0 ? request_.size : promise_.size;
  if (limit != 0 && bytes.size() > limit - std::min(have_, limit)) {
    fatal_ = true;
    discard();
    return fail(ErrorCode::InvalidInput,
                fmt::format("GET {}: wanted {} bytes, the server sends more", request_.url, limit));
  }
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) {
    fatal_ = true;
    return fail(ErrorCode::Io, fmt::format("cannot write {}: {}", part_, std::strerror(errno)));
  }
  digest_->update(bytes);
  have_ += bytes.size();
  observer_.on_progress(request_.name, have_, limit);
  return {};
}

Download::Attempt Download::finish() {
  if (file_ != nullptr && std::fclose(file_.release()) != 0) {
    return {
        .outcome = Outcome::GiveUp,
        .error = {ErrorCode::Io, fmt::format("cannot write {}: {}", part_, std::strerror(errno))},
        .wanted_pause = {}};
  }
  const uint64_t wanted = request_.size != 0 ? request_.size : promise_.size;
  if (wanted != 0 && have_ < wanted) {
    return {
        .outcome = Outcome::Retry,
        .error = {ErrorCode::Io, fmt::format("GET {}: wanted {} bytes, the server ended after {}",
                                             request_.url, wanted, have_)},
        .wanted_pause = {}};
  }
  result_.sha256 = digest_->hex();
  digest_.reset();
  const std::string& sha256 = request_.sha256.empty() ? promise_.sha256 : request_.sha256;
  std::string found = result_.sha256;
  std::string expected = sha256;
  if (sha256.empty() && !promise_.git_blob.empty()) {
    expected = promise_.git_blob;
    found = git_blob_name(part_, have_).value_or("");
  }
  if (!expected.empty() && found != expected) {
    discard();
    return {.outcome = Outcome::Retry,
            .error = {ErrorCode::InvalidInput,
                      fmt::format("GET {}: the bytes are not what they should be: wanted digest "
                                  "{}, found {}; thrown away",
                                  request_.url, expected, found)},
            .wanted_pause = {}};
  }
  if (Status moved = sync_and_rename(part_, path_); !moved) {
    return {.outcome = Outcome::GiveUp, .error = std::move(moved).error(), .wanted_pause = {}};
  }
  ::unlink(note_.c_str());
  result_.url = final_url_;
  result_.size = have_;
  result_.revision = promise_.revision;
  result_.proof = !request_.sha256.empty() ? Proof::Pinned
                  : !expected.empty()      ? Proof::Server
                                           : Proof::Transport;
  write_done();
  return {};
}

Download::Attempt Download::judge_status(const HttpResponse& response) {
  const int status = response.status;
  if (status == 416 && have_ > 0) {
    // The part is whole already, or the file on the server has shrunk.
    const auto total = parse_content_range(response.header("content-range")).total;
    if (total == have_ && hash_part()) {
      final_url_ = response.url;
      return finish();
    }
    discard();
    return {.outcome = Outcome::Retry,
            .error = {ErrorCode::Io,
                      fmt::format("GET {}: the server has another file by now", request_.url)},
            .wanted_pause = {}};
  }
  std::string meaning = fmt::format("GET {}: status {}", response.url, status);
  const bool later = status == 408 || status == 429 || status >= 500;
  if (status == 401 || status == 403) {
    meaning += " (not allowed to have it)";
  } else if (status == 404 || status == 410) {
    meaning += " (it is not there)";
  } else if (status == 429) {
    meaning += " (too many requests)";
  }
  std::optional<std::chrono::milliseconds> wanted;
  if (const auto seconds = parse_digits(response.header("retry-after"))) {
    wanted = std::chrono::seconds(std::min<uint64_t>(*seconds, 3600));
  }
  return {.outcome = later ? Outcome::Retry : Outcome::GiveUp,
          .error = {later ? ErrorCode::Io : ErrorCode::NotFound, std::move(meaning)},
          .wanted_pause = wanted};
}

void Download::read_note() {
  const auto text = read_text_file(note_, 65536);
  const uint64_t bytes = bytes_on_disk(part_);
  const Json note = text ? Json::parse(*text, nullptr, false) : Json();
  if (bytes == 0 || text_field(note, "url") != request_.url) {
    discard();
    return;
  }
  promise_.etag = text_field(note, "etag");
  promise_.sha256 = text_field(note, "sha256");
  promise_.git_blob = text_field(note, "git_blob");
  promise_.revision = text_field(note, "revision");
  promise_.size = size_field(note, "size");
  have_ = bytes;
}

void Download::write_note() const {
  const Json note = {{"url", request_.url},           {"etag", promise_.etag},
                     {"sha256", promise_.sha256},     {"git_blob", promise_.git_blob},
                     {"revision", promise_.revision}, {"size", promise_.size}};
  // Without the note the next pull begins anew; nothing worse.
  static_cast<void>(write_text_file(note_, note.dump() + "\n"));
}

void Download::write_done() const {
  const Json note = {{"url", request_.url},      {"from", result_.url},
                     {"sha256", result_.sha256}, {"revision", result_.revision},
                     {"size", result_.size},     {"proof", std::string(name(result_.proof))}};
  // Without it the next pull fetches the file again; nothing worse.
  static_cast<void>(write_text_file(done_, note.dump() + "\n"));
}

void Download::discard() {
  file_.reset();
  ::unlink(part_.c_str());
  ::unlink(note_.c_str());
  digest_.reset();
  promise_ = {};
  have_ = 0;
}

bool Download::pause(std::chrono::milliseconds length) const {
  std::mutex mutex;
  std::condition_variable_any waiting;
  std::unique_lock lock(mutex);
  waiting.wait_for(lock, stop_, length, [] { return false; });
  return !stop_.stop_requested();
}

}  // namespace

std::string_view name(Proof proof) {
  switch (proof) {
    case Proof::Pinned:
      return "pinned";
    case Proof::Server:
      return "server";
    case Proof::Transport:
      return "transport";
  }
  return "transport";
}

Result<Downloaded> download(const DownloadRequest& request, const std::string& path,
                            const DownloadOptions& options, StoreObserver& observer,
                            const std::stop_token& stop) {
  return Download(request, path, options, observer, stop).run();
}

}  // namespace mynah
