#include "talk/organs/service_client.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ascii.h"
#include "store/this_machine.h"

namespace mynah::talk {

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostModelsBytes = size_t{4} << 20;
constexpr std::string_view kUsualBase = "/v1";
// Routes that are an organ's in full; the API's path is what stands before them.
constexpr auto kRoutes = std::to_array<std::string_view>(
    {"/chat/completions", "/audio/transcriptions", "/audio/speech", "/inference"});

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
}

// Where an answer sends us, without a query: signatures and keys stand there.
std::string shown_location(const HttpAnswer& answer) {
  const std::string location = answer.head.header("location");
  const auto url = parse_url(location);
  const std::string text = url ? url->text() : location;
  return text.substr(0, text.find('?'));
}

}  // namespace

std::string ServiceAddress::text() const {
  Url shown = url;
  shown.target = endpoint.empty() ? base : endpoint;
  return shown.text();
}

std::string ServiceAddress::target(std::string_view route) const {
  const bool is_endpoint = !endpoint.empty() && route != "/models";
  return (is_endpoint ? endpoint : fmt::format("{}{}", base, route)) + query;
}

bool ServiceAddress::is_here() const {
  return is_this_machine(url.host);
}

Result<ServiceAddress> parse_service_address(std::string_view text) {
  MYNAH_TRY(Url url, parse_url(text));
  if (!url.user.empty()) {
    return fail(ErrorCode::InvalidInput,
                "a name and a password stand in no address, where others see them: wanted a key "
                "in a file");
  }
  ServiceAddress address;
  const size_t question = std::min(url.target.find('?'), url.target.size());
  address.query = url.target.substr(question);
  std::string path = url.target.substr(0, question);
  while (path.ends_with('/')) {
    path.pop_back();
  }
  const auto route =
      std::ranges::find_if(kRoutes, [&](std::string_view whole) { return path.ends_with(whole); });
  if (route != kRoutes.end()) {
    address.endpoint = path;
    path.resize(path.size() - route->size());
  }
  address.base = path.empty() && route == kRoutes.end() ? std::string(kUsualBase) : path;
  url.target = "/";
  address.url = std::move(url);
  return address;
}

Result<std::unique_ptr<ServiceClient>> ServiceClient::create(Service service,
                                                             std::chrono::milliseconds patience) {
  if (!service.key.empty() && !service.address.is_encrypted() && !service.address.is_here()) {
    return fail(ErrorCode::Usage,
                fmt::format("--{}: a key goes by https alone, where nobody reads it on its way: "
                            "wanted an https address, found {}",
                            service.option, service.address.text()));
  }
  service.http.stall_timeout = patience;
  return std::unique_ptr<ServiceClient>(new ServiceClient(std::move(service), patience));
}

ServiceClient::ServiceClient(Service service, std::chrono::milliseconds patience)
    : service_(std::move(service)), patience_(patience), model_(service_.model) {}

Result<HttpAnswer> ServiceClient::ask(const Question& question, const HttpHeadHandler& on_head,
                                      const HttpBodyHandler& on_body, const std::stop_token& stop) {
  std::unique_ptr<HttpClient> client;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      client = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (client == nullptr) {
    client = std::make_unique<HttpClient>(service_.address.url, service_.http);
  }
  HttpQuestion asked{.target = service_.address.target(question.route),
                     .headers = {{"Accept", std::string(question.accept)}},
                     .type = std::string(question.type),
                     .body = question.body,
                     .repeatable = true,
                     .is_enough = question.is_enough};
  if (!service_.key.empty()) {
    asked.headers.emplace_back("Authorization", "Bearer " + service_.key);
  }
  Status told;  // what who asks says of the answer
  asked.on_head = [&](const HttpResponse& head) {
    return told = on_head ? on_head(head) : Status();
  };
  auto answer = client->ask(
      asked, [&](std::span<const std::byte> piece) { return told = on_body(piece); }, stop);
  {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(client));
  }
  if (!told) {
    return std::unexpected(told.error());
  }
  if (!answer && answer.error().code != ErrorCode::Cancelled) {
    return fault(question, answer.error().code, answer.error().message);
  }
  return answer;
}

Result<ServiceClient::Whole> ServiceClient::ask_whole(const Question& question, size_t most_bytes,
                                                      const std::stop_token& stop) {
  std::string body;
  const auto begun = Clock::now();
  MYNAH_TRY(HttpAnswer answer,
            ask(
                question, {},
                [&](std::span<const std::byte> piece) -> Status {
                  body.append(reinterpret_cast<const char*>(piece.data()), piece.size());
                  if (body.size() > most_bytes) {
                    return fault(question, ErrorCode::InvalidInput,
                                 fmt::format("wanted an answer of {} bytes at most, "
                                             "found more",
                                             most_bytes));
                  }
                  if (Clock::now() - begun > patience_) {
                    return fault(question, ErrorCode::Io, "the answer does not come to its end");
                  }
                  return {};
                },
                stop));
  return Whole{.answer = std::move(answer), .body = std::move(body)};
}

std::unexpected<Error> ServiceClient::fault(const Question& question, ErrorCode code,
                                            std::string_view what) const {
  Url shown = service_.address.url;
  shown.target = service_.address.target(question.route);
  shown.target = shown.target.substr(0, shown.target.find('?'));
  return fail(code, fmt::format("{}: {}", shown.text(), what));
}

std::string ServiceClient::said_of(const HttpAnswer& answer) const {
  std::string said = read_refusal(answer.text).message;
  if (!service_.key.empty()) {
    replace_all(said, service_.key, "(the key)");
  }
  return said.empty() ? said : ": " + said;
}

std::unexpected<Error> ServiceClient::refusal(const Question& question,
                                              const HttpAnswer& answer) const {
  const int status = answer.head.status;
  const std::string said = said_of(answer);
  const auto told = [&](ErrorCode code, const std::string& what) {
    return fault(question, code, what);
  };
  switch (status) {
    case 401:
    case 403:
      return told(ErrorCode::Environment,
                  fmt::format("the server answers {}{}; wanted a key that it knows "
                              "(--{}-key-file FILE)",
                              status, said, service_.option));
    case 404:
    case 405:
      return told(
          ErrorCode::Environment,
          said.contains("model")
              ? fmt::format("the server answers {}{}; wanted the name of a model that it has",
                            status, said)
              : fmt::format("the server answers {}{}; wanted the address of a server with "
                            "OpenAI's API, such as http://host:port/v1 (--{} URL)",
                            status, said, service_.option));
    case 429: {
      const std::string wait = answer.head.header("retry-after");
      return told(ErrorCode::Busy,
                  fmt::format("the server is busy, or its limit is reached{}{}", said,
                              is_ascii_digits(wait) && wait.size() < 8
                                  ? fmt::format("; it says to wait {} s", wait)
                                  : std::string()));
    }
    default:
      break;
  }
  if (status / 100 == 3) {
    return told(ErrorCode::Environment,
                fmt::format("the server sends on to {}; it is not followed, for the key would go "
                            "there, too: wanted the address itself (--{} URL)",
                            shown_location(answer), service_.option));
  }
  return told(status / 100 == 5 ? ErrorCode::Io : ErrorCode::InvalidInput,
              fmt::format("the server answers {}{}", status, said));
}

Result<std::vector<ServedModel>> ServiceClient::models(const std::stop_token& stop) {
  const Question question{.route = "/models", .type = {}, .body = {}};
  MYNAH_TRY(const Whole whole, ask_whole(question, kMostModelsBytes, stop));
  const int status = whole.answer.head.status;
  if (status == 401 || status == 403 || status / 100 == 3) {
    return refusal(question, whole.answer);
  }
  const auto models =
      status == kServed ? read_models(whole.body) : Result<std::vector<ServedModel>>(std::in_place);
  if (!models) {
    return std::vector<ServedModel>();  // the organ's own route says what it is
  }
  if (std::ranges::any_of(*models, &ServedModel::is_mynahs)) {
    const std::lock_guard lock(mutex_);
    is_mynah_ = true;
  }
  return *models;
}

bool ServiceClient::learn(const HttpAnswer& answer, std::span<const std::string_view> optional) {
  constexpr int kBadRequest = 400;
  constexpr int kUnprocessable = 422;
  if (answer.head.status != kBadRequest && answer.head.status != kUnprocessable) {
    return false;
  }
  std::vector<std::string_view> sent;
  std::ranges::copy_if(optional, std::back_inserter(sent),
                       [&](std::string_view field) { return !is_refused(field); });
  const auto field = refused_field(read_refusal(answer.text), sent);
  if (!field) {
    return false;
  }
  const std::lock_guard lock(mutex_);
  refused_.emplace(*field);
  return true;
}

bool ServiceClient::is_refused(std::string_view field) const {
  const std::lock_guard lock(mutex_);
  return refused_.contains(field);
}

void ServiceClient::note_model(const HttpResponse& head, std::string_view named) {
  const std::string of_mynah = head.header("x-mynah-model");
  const std::lock_guard lock(mutex_);
  is_mynah_ = is_mynah_ || !of_mynah.empty();
  if (!of_mynah.empty() || !named.empty()) {
    model_named_ = of_mynah.empty() ? std::string(named) : of_mynah;
  }
}

OrganFacts ServiceClient::facts() const {
  const std::lock_guard lock(mutex_);
  return {.model = model_named_.empty() ? model_ : model_named_,
          .place = service_.address.text(),
          .leaves_machine = !service_.address.is_here()};
}

std::string ServiceClient::model() const {
  const std::lock_guard lock(mutex_);
  return model_;
}

void ServiceClient::choose(std::string model) {
  const std::lock_guard lock(mutex_);
  model_ = std::move(model);
}

Status ServiceClient::choose_of(ServedKind kind, std::string_view otherwise,
                                const std::stop_token& stop) {
  MYNAH_TRY(const auto served, models(stop));
  if (model().empty()) {
    const std::string chosen = is_mynah() ? std::string() : choose_model(served, kind);
    choose(chosen.empty() ? std::string(otherwise) : chosen);
  }
  return {};
}

bool ServiceClient::is_mynah() const {
  const std::lock_guard lock(mutex_);
  return is_mynah_;
}

}  // namespace mynah::talk
