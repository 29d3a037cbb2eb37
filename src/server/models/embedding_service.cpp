#include "server/models/embedding_service.h"

#include <utility>

#include "server/models/keep_as_asked.h"
#include "server/models/named_models.h"

namespace mynah::server {

Result<EmbeddingService::Opened> EmbeddingService::open(const std::string& name) const {
  if (const auto work = RequestWork::here()) {
    work->want(RequestWork::Does::Embed);
  }
  MYNAH_TRY(const KindModels::Meant meant, models_.choose(name, UnknownName::Refused));
  engine::EmbedWish wish;
  wish.model = meant.model;
  MYNAH_TRY(auto lease,
            as_chosen(engine_.embedder(std::move(wish), engine::Engine::Warm::Yes), meant.by_name));
  keep_as_asked(lease);
  std::string called = lease->name;
  return Opened{.lease = std::move(lease), .name = std::move(called), .metrics = &metrics_};
}

}  // namespace mynah::server
