// Fields of a request that its route does not know, or that do nothing here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/http/exchange.h"
#include "server/http/route.h"

namespace mynah::server {

// A client's text without what would end a header, or an item of one.
[[nodiscard]] std::string header_item(std::string_view text);

// Those that came with a value, each once, as a header may have them. Of a route that has no table
// of fields none.
[[nodiscard]] std::vector<std::string> passed_over_fields(const Route& route,
                                                          const Exchange& exchange);

}  // namespace mynah::server
