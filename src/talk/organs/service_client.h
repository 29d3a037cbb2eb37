// A server that has OpenAI's API, as one of a conversation's organs: where it is, and how it is
// asked.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/http_client.h"
#include "talk/organs/organs.h"
#include "talk/organs/service_answers.h"

namespace mynah::talk {

// The status of an answer that is one.
inline constexpr int kServed = 200;

// The address of a service: of its API ("http://host:11434/v1"), of a host alone (then /v1 is
// meant), or of one route in full ("http://host:8080/inference", as whisper.cpp's server has it).
struct ServiceAddress {
  Url url;               // without a path behind the API's, without name and password
  std::string base;      // the API's path: "/v1"
  std::string endpoint;  // the route in full; "": `base` and the organ's own
  std::string query;     // "?api-version=..."; is sent with everything

  // "http://host:11434/v1": safe to print.
  [[nodiscard]] std::string text() const;
  // Where `route` ("/models") is asked for.
  [[nodiscard]] std::string target(std::string_view route) const;
  // Whether it is this machine; what goes elsewhere without https can be read on its way.
  [[nodiscard]] bool is_here() const;

  [[nodiscard]] bool is_encrypted() const { return url.scheme == "https"; }
};

// InvalidInput for anything but an http or https address, and one that has a password in it.
[[nodiscard]] Result<ServiceAddress> parse_service_address(std::string_view text);

struct Service {
  ServiceAddress address;
  // How its options begin ("llm"): errors say which of them to give.
  std::string option;
  std::string model{};  // "": one of those that it has
  std::string key{};    // is sent as a bearer's; "": none
  HttpOptions http{};
};

// Thread-safe. Errors have the address in front, and never the key.
class ServiceClient {
 public:
  // A key goes by https alone, but to this machine: else Usage. `patience`: how long not a byte may
  // come.
  static Result<std::unique_ptr<ServiceClient>> create(Service service,
                                                       std::chrono::milliseconds patience);

  struct Question {
    std::string_view route;  // "/chat/completions"
    std::string_view type;   // of the body
    std::span<const std::byte> body;
    std::string_view accept = "*/*";
    std::function<bool()> is_enough = {};  // HttpQuestion::is_enough
  };

  // Any status is a success; `on_head` and `on_body` are told of one that is 200. Their errors come
  // back as they are. A question without a body is a GET.
  [[nodiscard]] Result<HttpAnswer> ask(const Question& question, const HttpHeadHandler& on_head,
                                       const HttpBodyHandler& on_body, const std::stop_token& stop);

  // An answer that is 200 as a whole. InvalidInput where it is longer than `most_bytes`, Io where
  // it takes longer than the patience to come.
  struct Whole {
    HttpAnswer answer;
    std::string body;
  };

  [[nodiscard]] Result<Whole> ask_whole(const Question& question, size_t most_bytes,
                                        const std::stop_token& stop);

  // Why an answer that is not 200 is none.
  [[nodiscard]] std::unexpected<Error> refusal(const Question& question,
                                               const HttpAnswer& answer) const;

  // An error of what came, with the route's address in front.
  [[nodiscard]] std::unexpected<Error> fault(const Question& question, ErrorCode code,
                                             std::string_view what) const;

  // The models that it lists; none where it has no list. Errors: where it cannot be reached or does
  // not take the key.
  [[nodiscard]] Result<std::vector<ServedModel>> models(const std::stop_token& stop);

  // One of `optional` that this answer (400, 422) refuses: it is not to be sent again, as
  // is_refused() then says. False: it refuses something else.
  [[nodiscard]] bool learn(const HttpAnswer& answer, std::span<const std::string_view> optional);
  [[nodiscard]] bool is_refused(std::string_view field) const;

  // What the server calls the model that answered, a mynah in the head and others in what they say
  // (`named`); it is kept from then on.
  void note_model(const HttpResponse& head, std::string_view named = {});

  [[nodiscard]] OrganFacts facts() const;
  // The name to send.
  [[nodiscard]] std::string model() const;
  void choose(std::string model);

  // Asks for the models; where none was named, the first of that kind is chosen. A mynah, which
  // chooses by itself, and a server that lists none are asked for `otherwise`.
  Status choose_of(ServedKind kind, std::string_view otherwise, const std::stop_token& stop);
  // Whether it is a mynah, by its answers.
  [[nodiscard]] bool is_mynah() const;

  [[nodiscard]] const ServiceAddress& address() const { return service_.address; }

  [[nodiscard]] std::chrono::milliseconds patience() const { return patience_; }

 private:
  ServiceClient(Service service, std::chrono::milliseconds patience);

  [[nodiscard]] std::string said_of(const HttpAnswer& answer) const;

  const Service service_;
  const std::chrono::milliseconds patience_;
  mutable std::mutex mutex_;                       // guards what follows
  std::vector<std::unique_ptr<HttpClient>> idle_;  // whose connections are kept
  std::set<std::string, std::less<>> refused_;
  std::string model_;        // that is sent
  std::string model_named_;  // by the server; "": it does not say
  bool is_mynah_ = false;
};

}  // namespace mynah::talk
