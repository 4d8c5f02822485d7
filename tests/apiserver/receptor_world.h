// The Receptor API over a memory store, without sockets: requests as text in, code and body out.
#pragma once

#include "apiserver/receptor/receptor.h"
#include "world.h"

namespace fairlead::apiserver::receptor {

struct Said {
    int code = 0;
    std::string body;
    [[nodiscard]] std::string name() const { return at("name"); }
    [[nodiscard]] std::string message() const { return at("message"); }
    [[nodiscard]] std::string at(std::string_view path) const {
        const auto value = json::parse(body);
        return value ? std::string(json::string_at(*value, path)) : std::string();
    }
};

struct ReceptorWorld : World {
    using World::World;
    Receptor receptor{"diego", kinds, *store, rest, clock};

    Said ask(std::string_view method, std::string_view target, std::string_view body = {},
             const net::Headers& headers = {}) {
        const auto found = find_operation(method, target);
        if (!found.operation) return {found.path_known ? 405 : 404, ""};
        auto answer = receptor.serve(*found.operation, body, headers, {User{"diego", {}}, "test"});
        while (answer.stream) {
            if (answer.stream->pull(answer.body) == net::StreamBody::Next::end) answer.stream.reset();
        }
        return {answer.code, std::move(answer.body)};
    }
    // A process that breaks no rule, with members added or replaced.
    static std::string process(std::string_view guid, std::string_view more = "") {
        return R"({"process_guid":")" + std::string(guid) +
               R"(","domain":"cf-apps","rootfs":"preloaded:cflinuxfs4","instances":2,)"
               R"("action":{"run":{"path":"/bin/web","user":"vcap"}},"ports":[4000,5000],"log_guid":"log-1")" +
               std::string(more) + "}";
    }
    static constexpr std::string_view objects = "/apis/fairlead.dev/v1/namespaces/diego/desiredlrps";
    static constexpr std::string_view instances = "/apis/fairlead.dev/v1/namespaces/diego/actuallrps";
};

}  // namespace fairlead::apiserver::receptor
