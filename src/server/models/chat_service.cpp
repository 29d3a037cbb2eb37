#include "server/models/chat_service.h"

#include <utility>

#include "server/models/keep_as_asked.h"
#include "server/models/named_models.h"

namespace mynah::server {

Result<Writing> ChatService::writing(const std::string& name, UnknownName unknown) const {
  if (const auto work = RequestWork::here()) {
    work->want(RequestWork::Does::Write);
  }
  MYNAH_TRY(const KindModels::Meant meant, models_.choose(name, unknown));
  engine::ChatWish wish;
  wish.model = meant.model;
  wish.context = options_.chat_context;
  wish.lowers_context = true;  // of the one model that is known at the start serve asks before
  MYNAH_TRY(auto lease,
            as_chosen(engine_.chat(std::move(wish), engine::Engine::Warm::Yes), meant.by_name));
  keep_as_asked(lease);
  std::string called = lease->name;
  return Writing{.lease = std::move(lease),
                 .name = std::move(called),
                 .model_passed_over = meant.passed_over,
                 .metrics = &metrics_};
}

}  // namespace mynah::server
