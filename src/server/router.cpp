#include "server/router.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ascii.h"
#include "engine/open_placer.h"
#include "server/http/errors.h"
#include "server/http/json_text.h"
#include "server/http/passed_over.h"

namespace mynah::server {
namespace {

// Names that clients give to their requests are told in logs and answers: they are no longer, and
// have no other signs, than names have.
bool is_name(std::string_view id) {
  constexpr size_t kLongest = 128;
  return !id.empty() && id.size() <= kLongest && std::ranges::all_of(id, [](char c) {
    return is_ascii_digit(c) || is_ascii_letter(c) || c == '-' || c == '_' || c == '.';
  });
}

// Whether a route's path is that path; what its braces take.
bool matches(std::string_view route, std::string_view path, std::string& part) {
  const size_t brace = route.find('{');
  if (brace == std::string_view::npos) {
    return route == path;
  }
  const size_t end = route.find('}');
  const std::string_view behind = route.substr(end + 1);
  if (!path.starts_with(route.substr(0, brace)) || path.size() < brace + behind.size() + 1 ||
      !path.ends_with(behind)) {
    return false;
  }
  const std::string_view taken = path.substr(brace, path.size() - brace - behind.size());
  if (!behind.empty() && taken.contains('/')) {
    return false;
  }
  part = taken;
  return true;
}

// What a request says of how long its models are kept: a field of its form, its JSON, its query or
// its head; "": nothing.
std::string keep_alive_of(const Exchange& exchange) {
  constexpr std::string_view kField = kKeepAlive.name;
  for (const auto& [name, value] : exchange.body().fields) {
    if (name == kField) {
      return value;
    }
  }
  if (exchange.body().text.contains(kField)) {
    const auto& json = exchange.json().object;
    const auto found = json.is_object() ? json.find(kField) : json.end();
    if (found != json.end()) {
      return found->is_string() ? found->get<std::string>() : found->dump();
    }
  }
  return std::string(
      exchange.head().asked(kField).value_or(exchange.head().headers.get(kKeepAliveHeader)));
}

}  // namespace

Router::Router(std::vector<Route> routes, Gate gate, ErrorTeller tell_error)
    : routes_(std::move(routes)),
      gate_(std::move(gate)),
      tell_error_(std::move(tell_error)),
      start_(static_cast<uint64_t>(::time(nullptr)) & UINT32_MAX) {}

std::vector<Router::Match> Router::matches_of(std::string_view path) const {
  std::vector<Match> all;
  for (const Route& route : routes_) {
    Match match{.route = &route, .part = {}};
    if (!matches(route.path, path, match.part)) {
      continue;
    }
    // What says more of the path comes before what takes more of it in braces.
    if (!all.empty() && match.part.size() < all.front().part.size()) {
      all.clear();
    }
    if (all.empty() || match.part.size() == all.front().part.size()) {
      all.push_back(std::move(match));
    }
  }
  return all;
}

std::string Router::methods_of(const std::vector<Match>& rows) {
  std::string methods;
  for (const Match& row : rows) {
    if (!methods.contains(row.route->method)) {
      methods += (methods.empty() ? "" : ", ") + row.route->method;
    }
  }
  return methods;
}

std::expected<Front::Plan, Response> Router::plan(RequestHead& head) {
  head.work = std::make_shared<RequestWork>(id_of(head));
  if (auto turned_away = gate_.check_origin(head)) {
    return std::unexpected(*std::move(turned_away));
  }
  if (!base_path_.empty() && head.path == base_path_) {
    constexpr int kElsewhere = 307;
    Response moved;
    moved.status = kElsewhere;
    moved.headers.set("Location", base_path_ + "/");  // what the page names is relative to it
    return std::unexpected(std::move(moved));
  }
  if (!base_path_.empty() && head.path.starts_with(base_path_ + "/")) {
    head.path.erase(0, base_path_.size());
  }
  // A client that adds a slash, or has one at the end of its address, means the same.
  std::string path = head.path;
  while (path.starts_with("//")) {
    path.erase(0, 1);
  }
  if (path.size() > 1 && path.ends_with('/')) {
    path.pop_back();
  }
  const std::vector<Match> rows = matches_of(path);
  const std::string methods = methods_of(rows);
  if (methods.empty()) {
    return std::unexpected(
        refusal(head, {ErrorCode::NotFound,
                       fmt::format("there is nothing at {}{}", head.path, suggestion_for(path))}));
  }
  if (head.method == "OPTIONS") {
    return Plan{.accepts = Accepts::Nothing,
                .handler = [allowed = gate_.preflight(head, methods)](Exchange& exchange) {
                  exchange.answer(allowed);
                }};
  }
  const std::string_view as = head.method == "HEAD" ? "GET" : std::string_view(head.method);
  const auto row = std::ranges::find(rows, as, [](const Match& one) { return one.route->method; });
  if (row == rows.end()) {
    Response refused =
        refusal(head, {ErrorCode::Unsupported,
                       fmt::format("wanted {} of {}, found {}", methods, path, head.method)});
    refused.status = 405;
    refused.headers.set("Allow", methods);
    return std::unexpected(std::move(refused));
  }
  const Route* const route = row->route;
  head.part = row->part;
  if (auto turned_away =
          gate_.admit(head, route->open, route->rights, route->socket.make != nullptr)) {
    return std::unexpected(*std::move(turned_away));
  }
  head.route = route->path;
  head.work->set_owner(head.owner);
  gate_.count_audio(*head.work);
  if (board_ == nullptr || route->socket.make) {
    return Plan{.accepts = route->accepts, .handler = route->handler, .socket = route->socket};
  }
  return Plan{.accepts = route->accepts,
              .handler = [this, route](Exchange& exchange) { have_handled(*route, exchange); }};
}

void Router::have_handled(const Route& route, Exchange& exchange) {
  const std::shared_ptr<RequestWork>& work = exchange.head().work;
  work->arrive();
  work->pass_over(passed_over_fields(route, exchange));
  if (const std::string wanted = keep_alive_of(exchange); !wanted.empty()) {
    const auto idle = engine::parse_keep_alive("keep_alive", wanted);
    if (!idle) {
      exchange.answer(refusal(exchange.head(), {ErrorCode::InvalidInput, idle.error().message}));
      return;
    }
    // Whoever says so lets go of a model, or keeps it loaded: that is a right of its own.
    if (exchange.head().rights.has(Right::Models)) {
      work->keep_models(*idle);
    }
  }
  const WorkBoard::Entry entry(*board_, work);
  const RequestScope scope(work);
  route.handler(exchange);
}

std::string Router::id_of(const RequestHead& head) {
  const std::string_view own = head.headers.get("x-request-id");
  return is_name(own) ? std::string(own) : fmt::format("req_{:08x}{:06x}", start_, ++requests_);
}

std::string Router::suggestion_for(std::string_view path) const {
  // People write the address of one route where its base is wanted, and clients add to it.
  for (const Route& route : routes_) {
    if (path.ends_with(route.path) && route.path.size() > 1) {
      return fmt::format("; did you mean {}?", route.path);
    }
    if (("/v1" + std::string(path)) == route.path) {
      return fmt::format("; did you mean {}? The base of the address ends in /v1", route.path);
    }
  }
  return "; / has the page, /v1/models the models";
}

Response Router::refusal(const RequestHead& head, const Error& error) const {
  return tell_error_(head, error);
}

void Router::dress(RequestHead& head, Response& response) {
  if (head.work == nullptr) {
    head.work = std::make_shared<RequestWork>(id_of(head));
  }
  gate_.dress(head, response);
  response.headers.set("X-Request-Id", head.work->id());
  if (const auto waited = head.work->waited()) {
    response.headers.set(
        "X-Mynah-Queue-Ms",
        fmt::format("{:.1f}", std::chrono::duration<double, std::milli>(*waited).count()));
  }
  if (const auto& passed_over = head.work->passed_over(); !passed_over.empty()) {
    const std::string_view more = response.headers.get(kIgnoredHeader);
    response.headers.set(kIgnoredHeader, fmt::format("{}{}{}", fmt::join(passed_over, ", "),
                                                     more.empty() ? "" : ", ", more));
  }
  constexpr int kTooManyRequests = 429;
  if (response.status == kTooManyRequests && !response.headers.has("retry-after-ms")) {
    set_retry_after(response, retry_after_ ? retry_after_() : std::chrono::milliseconds(1000));
  }
  response.headers.set("X-Content-Type-Options", "nosniff");
}

void Router::on_served(const RequestHead& head, const Served& served) {
  gate_.leave(head);
  if (log_) {
    log_(head, served);
  }
}

}  // namespace mynah::server
