// What a real HAProxy answers when it follows a table.
#include "proxy/world.h"

namespace fairlead::proxy::haproxy {
namespace {

TEST(Serve, FindsTheMembersOfHostPathAndWildcard) {
    World world;
    const Member shop("shop"), cart("cart"), wild("wild");
    world.start();
    traffic::RoutingTable table;
    add_route(table, "route/a/shop", {"shop.test", false, ""}, {shop.member()});
    add_route(table, "route/a/cart", {"shop.test", false, "/cart"}, {cart.member()});
    add_route(table, "route/a/wild", {"acme.test", true, ""}, {wild.member()});
    add_route(table, "route/a/empty", {"empty.test", false, ""}, {});
    world.want(table);
    struct Row {
        const char *name, *host, *path;
        int status;
        const char* who;
    };
    const Row rows[] = {
        {"Host", "shop.test", "/", 200, "shop"},
        {"AnyCasePortAndDot", "Shop.Test.:80", "/", 200, "shop"},
        {"Path", "shop.test", "/cart", 200, "cart"},
        {"BelowPath", "shop.test", "/cart/1?x=/", 200, "cart"},
        {"NotThePath", "shop.test", "/carts", 200, "shop"},
        {"Wildcard", "www.acme.test", "/", 200, "wild"},
        {"WildcardIsOneLevel", "a.b.acme.test", "/", 404, nullptr},
        {"NoRoute", "other.test", "/", 404, nullptr},
        {"NoMember", "empty.test", "/", 503, nullptr},
        {"NoHostName", "a\"b.acme.test", "/", 400, nullptr},
    };
    for (const auto& row : rows) {
        const auto reply = world.get(row.host, row.path);
        EXPECT_EQ(reply.status, row.status) << row.name;
        if (row.who != nullptr) {
            EXPECT_EQ(reply.who(), row.who) << row.name;
        }
    }
    EXPECT_EQ(Client(world.status()).get("x", "/healthz").status, 200);
}

TEST(Serve, FollowsChangesWithoutReload) {
    World world;
    const Member one("one"), two("two");
    world.start();
    traffic::RoutingTable table;
    add_route(table, "r", {"a.test", false, ""}, {one.member()});
    world.want(table);
    EXPECT_EQ(world.get("a.test").who(), "one");
    table.pools["r"].members = {two.member()};
    world.want(table);
    EXPECT_EQ(world.get("a.test").who(), "two");
    table.pools["r"].members[0].state = traffic::MemberState::down;
    world.want(table);
    EXPECT_EQ(world.get("a.test").status, 503);
    table.pools["r"].members = {one.member()};
    world.want(table);
    EXPECT_EQ(world.get("a.test").who(), "one");
    add_route(table, "p", {"a.test", false, "/p"}, {two.member()});
    world.want(table);
    EXPECT_EQ(world.get("a.test").who(), "one");
    EXPECT_EQ(world.get("a.test", "/p/q").who(), "two");
    table = {};
    world.want(table);
    EXPECT_EQ(world.get("a.test").status, 404);
    EXPECT_EQ(world.driver->progress().reloads, 0U);
}

}  // namespace
}  // namespace fairlead::proxy::haproxy
