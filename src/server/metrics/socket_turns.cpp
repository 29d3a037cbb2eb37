#include "server/metrics/socket_turns.h"

#include <utility>

#include <fmt/format.h>

#include "server/http/errors.h"

namespace mynah::server {

SocketTurn::SocketTurn(const TurnPlaces& places, RequestHead about)
    : places_(places), about_(std::move(about)), entry_(places.board, about_.work) {
  served_.left = true;
}

SocketTurn::~SocketTurn() {
  if (places_.log) {
    served_.took = std::chrono::steady_clock::now() - begun_at_;
    places_.log(about_, served_);
  }
}

void SocketTurn::end(const Status& status) {
  constexpr int kDone = 200;
  served_.left = !status && status.error().code == ErrorCode::Cancelled;
  served_.status = served_.left ? 0 : status ? kDone : error_status(status.error().code);
}

SocketTurns::SocketTurns(const TurnPlaces& places, const RequestHead& client) : places_(places) {
  // What is told of it, and none of its headers: a key stands in one.
  client_.path = client.path;
  client_.route = client.route;
  client_.peer = client.peer;
  client_.owner = client.owner;
  client_.work = client.work;
}

std::unique_ptr<SocketTurn> SocketTurns::begin(RequestWork::Does does) {
  RequestHead about = client_;
  about.method = does == RequestWork::Does::Speak   ? "SPEAK"
                 : does == RequestWork::Does::Write ? "WRITE"
                                                    : "HEAR";
  about.work = std::make_shared<RequestWork>(fmt::format("{}-{}", client_.work->id(), ++count_));
  about.work->set_owner(client_.owner);
  about.work->want(does);
  if (!client_.owner.empty()) {
    about.work->spend_by([keys = &places_.keys, owner = client_.owner](double audio_s) {
      keys->spend(owner, audio_s);
    });
  }
  return std::make_unique<SocketTurn>(places_, std::move(about));
}

void SocketTurns::spend(double audio_s) const {
  if (!client_.owner.empty()) {
    places_.keys.spend(client_.owner, audio_s);
  }
}

KeyRing::AllLeft SocketTurns::left() const {
  return client_.owner.empty() ? KeyRing::AllLeft() : places_.keys.left_to(client_.owner);
}

Status SocketTurns::check_audio() const {
  const auto wait =
      client_.owner.empty() ? std::nullopt : places_.keys.wait_for_audio(client_.owner);
  if (!wait) {
    return {};
  }
  return fail(ErrorCode::Busy,
              fmt::format("the key {} has had all sound of its minute: ask again in {:.1f} s",
                          client_.owner, std::chrono::duration<double>(*wait).count()));
}

}  // namespace mynah::server
