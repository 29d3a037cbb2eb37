// Any lines as the events of a client of Realtime: each is answered, and none ends the dialogue.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "server/http/json_text.h"
#include "server/realtime/dialogue.h"

namespace {

using namespace mynah;          // NOLINT(google-build-using-namespace): a program of its own
using namespace mynah::server;  // NOLINT(google-build-using-namespace)

std::unique_ptr<Service> service_of(std::map<std::string, std::string> environment) {
  ServiceOptions options;
  options.placement.device = "cpu";
  auto made =
      Service::create(std::move(options), {.environment = Environment(std::move(environment))});
  MYNAH_CHECK(made.has_value(), "a service needs no model's file");
  return *std::move(made);
}

// With what is built in: no file is read.
Service& service() {
  static const std::unique_ptr<Service> one = service_of({});
  return *one;
}

// With a language model beside that, which is named and never opened.
Service& writing_service() {
  static const std::unique_ptr<Service> one =
      service_of({{"MYNAH_HOME", MYNAH_SOURCE_DIR "/tests/fuzz/home"}});
  return *one;
}

// Nobody's limits, and nobody who is told.
const TurnPlaces& places() {
  static const std::unique_ptr<KeyRing> keys = *KeyRing::open({});
  static WorkBoard board;
  static const TurnPlaces one{.board = board, .keys = *keys, .log = {}};
  return one;
}

// Sound is refused once, and then passed over; what is cancelled tells its end when it has come to
// it.
bool may_be_silent(std::string_view line) {
  const nlohmann::ordered_json event = parse_object(line);
  const auto type = event.is_object() ? event.find("type") : event.end();
  return type != event.end() &&
         (*type == "input_audio_buffer.append" || *type == "response.cancel");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view left(reinterpret_cast<const char*>(data), size);
  const bool beta = size % 2 == 1;
  RequestHead head;
  head.rights = {Right::Hear, Right::Speak, Right::Think};
  const bool writes = size % 5 < 3;
  if (beta) {
    head.headers.add("OpenAI-Beta", "realtime=v1");
  }
  if (size % 3 == 0) {
    head.query.emplace_back("intent", "transcription");
    head.query.emplace_back("model", std::string(left.substr(0, 20)));
  }
  const auto outbox = std::make_shared<Outbox>([] {});
  head.work = std::make_shared<RequestWork>("f");
  SocketTurns turns(places(), head);
  std::optional<Reply> reply;
  Dialogue dialogue({.service = writes ? writing_service() : service(),
                     .turns = turns,
                     .outbox = outbox,
                     .name = "f",
                     .wake = [] {},
                     .give =
                         [&reply](Reply asked, const std::stop_source& /*stop*/) {
                           MYNAH_CHECK(!asked.asked || asked.asked->chat.messages.is_array(),
                                       "a model is asked by messages");
                           const bool has_thread = asked.text.size() % 2 == 0;
                           reply = has_thread ? std::optional(std::move(asked)) : std::nullopt;
                           return has_thread;
                         }},
                    head);
  MYNAH_CHECK(!outbox->take().bytes.empty(), "a session begins with an event");
  while (!left.empty()) {
    const std::string_view line = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(left.size(), line.size() + 1));
    MYNAH_CHECK(dialogue.take(line), "nobody opens models elsewhere");
    const std::string told = outbox->take().bytes;
    MYNAH_CHECK(!told.empty() || may_be_silent(line), "every event is answered");
    if (reply && line.size() % 2 == 0) {
      dialogue.end_reply({.response_id = std::exchange(reply, std::nullopt)->response_id});
      static_cast<void>(outbox->take());
    }
    dialogue.go_on();
    dialogue.on_time(Ear::Clock::now());
  }
  dialogue.end();
  return 0;
}
