// Names of models and voices: those of whoever starts a server, looked at before anybody asks for
// them, and those of clients.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "engine/surroundings.h"
#include "server/models/service.h"

namespace mynah::server {

// Whether the models and the voice that were named are here and what they must be; of models that
// write or make vectors the head of the file is read. Usage for a name that nobody knows, for the
// wrong kind of model and for a file that is none, Environment for what is not on this machine,
// each with the option in front.
[[nodiscard]] Status check_named_models(const ServiceOptions& options,
                                        const Environment& environment);

// Notes what is no reason not to start: no model that hears, which of several models writes or
// makes vectors where none was named, an alias of a model that is not here.
void note_missing_models(const ServiceOptions& options, const engine::Surroundings& surroundings);

// Whether a client names a model that nobody here is called, by what its name means ("": nothing).
[[nodiscard]] bool is_unknown(const std::string& name, const std::string& meant);

// NotFound, for who must name one that is here. `does`: what it was wanted for: "hears".
[[nodiscard]] std::unexpected<Error> no_model_called(const std::string& name,
                                                     std::string_view does);

// An error of a model that the client did not choose: what is wrong is the server's affair.
[[nodiscard]] Error as_servers(Error error);

// What came of opening a model, `chosen` by the client or not.
template <class T>
[[nodiscard]] Result<T> as_chosen(Result<T> opened, bool chosen) {
  return opened || chosen ? std::move(opened)
                          : Result<T>(std::unexpected(as_servers(std::move(opened).error())));
}

}  // namespace mynah::server
