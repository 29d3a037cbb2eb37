#include "server/hear/fillers.h"

#include <string>
#include <utility>

#include <fmt/format.h>

namespace mynah::server {

void fill_json(Exchange& exchange, Response head) {
  exchange.fill_with(std::move(head), [] { return std::string(" "); }, false);
}

void fill_events(Exchange& exchange, Response head, const WorkBoard& board) {
  const auto comment = [&board, work = exchange.head().work] {
    const auto place = work == nullptr ? std::nullopt : board.place_of(*work);
    return place ? fmt::format(": waiting, {} of {}\n\n", place->number, place->waiting)
                 : std::string(": running\n\n");
  };
  exchange.fill_with(std::move(head), comment, true);
}

}  // namespace mynah::server
