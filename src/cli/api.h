// The API as commands use it: JSON in and out over a Transport, errors as kubectl words them. One thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/transport.h"
#include "json/value.h"

namespace fairlead::cli {

struct Terminal;

// Why a call failed: the server's Status, or an error on the way to it.
struct Failure {
    Error error;         // its message is what a person reads first
    int status = 0;      // HTTP; 0 = the server was not reached
    std::string reason;  // "NotFound"
    struct Cause {
        std::string field, message;
        bool operator==(const Cause&) const = default;
    };
    std::vector<Cause> causes;
};

template <class T>
using Answer = tl::expected<T, Failure>;

using Query = std::vector<std::pair<std::string, std::string>>;

// "?a=b&c=d" with escapes; parameters with an empty value are left out.
std::string query_string(const Query& query);

// From an answer that is no success. `Error from server (NotFound): ...`, or `The Route "x" is invalid: ...`.
Failure failure_from(int status, std::string_view body);

inline constexpr std::string_view accept_json = "application/json";
inline constexpr std::string_view accept_table =
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";

class Api {
public:
    // Warnings of the server are shown on the terminal's error stream.
    Api(Transport& transport, Terminal& terminal) : transport_(transport), terminal_(terminal) {}

    Answer<json::Value> get(const std::string& target, std::string_view accept = accept_json);
    Answer<json::Value> send(std::string method, const std::string& target, const json::Value& body,
                             std::string_view content_type = "application/json");
    // All pages of a list (or Table) as one: `items` and `rows` are joined, the metadata is the last page's.
    Answer<json::Value> list(const std::string& path, Query query, std::string_view accept = accept_json);
    // Each line of a watch as a value until `event` returns false; see Transport::stream. A line that is no JSON ends
    // it.
    Answer<void> watch(const std::string& path, Query query, std::string_view accept,
                       const std::function<bool(const json::Value&)>& event,
                       std::optional<std::chrono::milliseconds> limit);

    // Each line of a text until `line` returns false.
    Answer<void> text(const std::string& target, const std::function<bool(std::string_view)>& line);

    [[nodiscard]] Terminal& terminal() const { return terminal_; }

private:
    Answer<json::Value> call(const net::ClientRequest& request);
    void show_warnings(const net::Headers& headers);

    Transport& transport_;
    Terminal& terminal_;
};

// The text of a Warning header ("299 - \"unknown field\"") or nothing.
std::optional<std::string> warning_text(std::string_view header);

}  // namespace fairlead::cli
