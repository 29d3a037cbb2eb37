// Fillers: what clients are sent while nothing else is, so that no gateway between gives them up.
#pragma once

#include "server/http/exchange.h"
#include "server/http/message.h"
#include "server/metrics/work_board.h"

namespace mynah::server {

// White space, which may stand before JSON, until there is an answer. `head`: of the answer.
void fill_json(Exchange& exchange, Response head);

// A comment of server-sent events, also between events, which says where the request is in the
// queue: ": waiting, 2 of 5". The board must outlive the exchange.
void fill_events(Exchange& exchange, Response head, const WorkBoard& board);

}  // namespace mynah::server
