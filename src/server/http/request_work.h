// RequestWork: what is known of a request under way, for its answer's head, the log and whoever
// asks what waits.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mynah::server {

// Thread-safe.
class RequestWork {
 public:
  using Clock = std::chrono::steady_clock;

  // What a model is to do for it.
  enum class Does : uint8_t { Other, Hear, Speak, Write, Embed };

  // `id`: as it is called in the answer and the log.
  explicit RequestWork(std::string id) : id_(std::move(id)) {}

  // The name of the key that asked, before any other thread knows of it; "": none was wanted.
  void set_owner(std::string owner) { owner_ = std::move(owner); }

  [[nodiscard]] const std::string& id() const { return id_; }

  [[nodiscard]] const std::string& owner() const { return owner_; }

  // How long the models that it wants are kept once nobody uses them; none: for ever. Before any
  // other thread knows of it.
  void keep_models(std::optional<std::chrono::milliseconds> idle) { kept_ = {.idle = idle}; }

  // The fields that came with it and do nothing here, before any other thread knows of it.
  void pass_over(std::vector<std::string> fields) { passed_over_ = std::move(fields); }

  [[nodiscard]] const std::vector<std::string>& passed_over() const { return passed_over_; }

  struct Kept {
    std::optional<std::chrono::milliseconds> idle;
  };

  // None: it says nothing of that.
  [[nodiscard]] const std::optional<Kept>& kept() const { return kept_; }

  // Who is told of sound that was heard or spoken for it, from any thread; before any other thread
  // knows of it.
  void spend_by(std::function<void(double audio_s)> spend) { spend_ = std::move(spend); }

  // So many seconds more were heard or spoken for it, also of a client that left meanwhile.
  void spend(double audio_s) const {
    if (spend_ && audio_s > 0) {
      spend_(audio_s);
    }
  }

  // All of it came: what it waits is counted from now on.
  void arrive() { arrived_ = Clock::now(); }

  // A model is wanted. It waits for that from its arrival until begin().
  void want(Does does) { does_ = does; }

  // A model computes for it from now on; the first time counts.
  void begin();

  [[nodiscard]] Does does() const { return does_; }

  // Since it arrived.
  [[nodiscard]] Clock::duration age() const { return Clock::now() - arrived_.load(); }

  // From its arrival to its begin; none: no model has computed for it yet.
  [[nodiscard]] std::optional<Clock::duration> waited() const;

  // That of the request which this thread is about; null: of none.
  [[nodiscard]] static std::shared_ptr<RequestWork> here();

 private:
  const std::string id_;
  std::string owner_;
  std::optional<Kept> kept_;
  std::vector<std::string> passed_over_;
  std::function<void(double)> spend_;  // null: nobody counts it
  std::atomic<Does> does_{Does::Other};
  std::atomic<Clock::time_point> arrived_{Clock::now()};
  std::atomic<Clock::time_point> begun_{Clock::time_point()};
};

// What models do, and what it is called in answers.
inline constexpr std::array<std::pair<RequestWork::Does, const char*>, 4> kTasks = {
    {{RequestWork::Does::Hear, "hear"},
     {RequestWork::Does::Speak, "speak"},
     {RequestWork::Does::Write, "write"},
     {RequestWork::Does::Embed, "embed"}}};

// While it lives the thread is about that request.
class RequestScope {
 public:
  explicit RequestScope(std::shared_ptr<RequestWork> work);
  ~RequestScope();
  RequestScope(const RequestScope&) = delete;
  RequestScope& operator=(const RequestScope&) = delete;

 private:
  std::shared_ptr<RequestWork> before_;
};

}  // namespace mynah::server
