package profile

// Shopify is what Shopify says about a shop, in its envelope.
type Shopify struct {
	Data struct {
		Shop ShopifyShop `json:"shop"`
	} `json:"data"`
}

// ShopifyShop is the shop.
type ShopifyShop struct {
	ID              string `json:"id"` // gid://shopify/Shop/ and a number
	Name            string `json:"name"`
	Email           string `json:"email"`
	MyShopifyDomain string `json:"myshopifyDomain"`
	ContactEmail    string `json:"contactEmail"` // for the shop's customers
	CreatedAt       string `json:"createdAt"`
}
