// The interface of ollama (its docs/api.md, version 0.12): the models that are here and those that
// are open, pulls, texts that they write and vectors that they make.
#pragma once

#include <string>
#include <vector>

#include "server/http/route.h"
#include "server/models/service.h"

namespace mynah::server {

[[nodiscard]] std::vector<Route> ollama_routes(Service& service);

// {"error": "..."}.
[[nodiscard]] std::string ollama_error_text(const Error& error);
[[nodiscard]] Response ollama_error(const Error& error);

// The same of a model that was asked for by that name: its clients know "not found", and pull it.
[[nodiscard]] Response ollama_model_error(const std::string& name, const Error& error);

// The same of one that was not opened. `here`: what that name means of those that are here; where
// there are none `error` says what whoever runs the server can do, and its clients know "not
// found".
[[nodiscard]] Response ollama_opening_error(const std::string& name, const Result<HereModel>& here,
                                            const Error& error);

// What its clients call a model: a name that has no tag has one more.
[[nodiscard]] std::string with_tag(const std::string& name);

// POST /api/chat and /api/generate.
[[nodiscard]] std::vector<Route> ollama_writing_routes(Service& service);

// POST /api/embed and /api/embeddings.
[[nodiscard]] std::vector<Route> ollama_embedding_routes(Service& service);

// GET /api/tags and /api/ps, POST /api/show.
[[nodiscard]] std::vector<Route> ollama_list_routes(Service& service);

}  // namespace mynah::server
