// Where a request's body ends: heads that say it in two ways, or in one that is not known here.
#pragma once

#include "base/result.h"
#include "server/http/message.h"

namespace mynah::server {

// InvalidInput for a head by which somebody between the client and this server could see another
// end of the body than this server does, and take the rest for a request (RFC 9112, section 11.2).
Status check_framing(const Headers& headers, bool knows_chunks);

}  // namespace mynah::server
