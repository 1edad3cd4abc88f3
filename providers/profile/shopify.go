package profile

// Shopify is what Shopify says about a shop, in its envelope.
type Shopify struct {
	Shop ShopifyShop `json:"shop"`
}

// ShopifyShop is the shop.
type ShopifyShop struct {
	ID              int64  `json:"id"`
	Name            string `json:"name"`
	Email           string `json:"email"`
	Domain          string `json:"domain"` // of the shop's own choice
	MyShopifyDomain string `json:"myshopify_domain"`
	ShopOwner       string `json:"shop_owner"`
	City            string `json:"city"`
	Country         string `json:"country"`
	PlanDisplayName string `json:"plan_display_name"`
	CustomerEmail   string `json:"customer_email"` // for the shop's customers
	CreatedAt       string `json:"created_at"`
}
