// What the Receptor API answers: JSON bodies, and errors in its own form, {"name":...,"message":...}. Pure values.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "apiserver/status.h"
#include "json/value.h"
#include "net/http.h"

namespace fairlead::apiserver {
struct Reply;
}

namespace fairlead::apiserver::receptor {

struct Answer {
    int code = 204;
    std::string body{};                         // JSON; empty: none
    std::unique_ptr<net::StreamBody> stream{};  // instead of the body
    net::Headers headers{};
};

Answer json(int code, std::string body);
// `name` is one of the Receptor's: "InvalidLRP", "DesiredLRPNotFound", ...
Answer problem(int code, std::string_view name, std::string_view message);

Answer invalid_json(std::string_view message);
Answer invalid_request(std::string_view message);
Answer invalid_lrp(std::string_view message);
Answer invalid_field(const Error& error);  // of an LRP: "Invalid field: F (why)"
Answer desired_not_found(std::string_view guid);
Answer desired_exists(std::string_view guid);
Answer desired_conflict(std::string_view guid);
Answer actual_not_found(std::string_view guid, std::string_view index);
Answer another_instance(std::string_view guid, std::string_view index, std::string_view instance);

// A refusal of the API server that concerns no LRP: 401, 403, 429, 503 and so on.
Answer problem_of(const Status& status);
// What the verbs of our own API said about an LRP: rules that it breaks become InvalidLRP, anything else keeps its
// code.
Answer problem_of(const Reply& reply);

net::Response to_response(Answer answer);

}  // namespace fairlead::apiserver::receptor
